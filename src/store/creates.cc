#include "store/creates.h"

#include <exception>
#include <utility>

#include "store/batch.h"
#include "store/create_rules.h"
#include "store/transactional_creates.h"

namespace recourse::store {
namespace {

// Of the mark of a failure.
constexpr Duration kGiveUpWithin = std::chrono::seconds(5);

std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {
    return "something that is no std::exception was thrown";
  }
}

// This very call's, whose first commit was lost on its way back.
bool is_mine(const Creation& there, const CreateAsk& ask) {
  return there.id == ask.id && there.hash == ask.hash && there.resource == ask.resource &&
         is_first_holder(there) && there.state == CreateState::kProcessing;
}

// Of one that is there and free, as it was read without a lock.
Result<Taking> take_over(Transaction& transaction, const CreateAsk& ask, TimePoint now) {
  const auto locked = transaction.lock_creation(ask.key);
  if (!locked) return fail(locked.error());
  // Somebody is about to decide on it.
  if (!*locked) return Taking{};
  if (judge(**locked, ask, now) != KeyVerdict::kTake) {
    return fail(ErrorCode::kConflict, "somebody else was faster: look again");
  }
  Creation next = next_creation(**locked, ask, now);
  if (Result<> written = transaction.write_creation(next); !written) return fail(written.error());
  return Taking{.answer = {.how = Acquisition::kAcquired, .creation = std::move(next)}};
}

// Works outside of any transaction.
class Outsider final : public Guest {
 public:
  Outsider(Creates& creates, Duration within) : creates_(creates), within_(within) {}

  Result<std::int64_t> execute(std::string_view, const SqlValues&) override { return refuse(); }
  Result<std::vector<SqlRow>> query(std::string_view, const SqlValues&) override {
    return refuse();
  }
  Result<InsertAnswer> submit(std::span<const Submission>) override { return refuse(); }
  Result<> mark_created(const CreateHold& hold, std::string_view value, Mark) override {
    const Result<bool> marked = creates_.succeed(hold, value, within_);
    if (!marked) return fail(marked.error());
    return *marked ? Result<>() : fail(hold_is_over());
  }

 private:
  static Unexpected refuse() {
    return fail(
        ErrorCode::kInvalid,
        "this create has no transaction (AWARE_ONLY, or a store in memory): use REQUIRES_NEW "
        "on a database for statements inside of it");
  }

  Creates& creates_;
  Duration within_;
};

}  // namespace

Result<Taking> take_creation(Transaction& transaction, const CreateAsk& ask) {
  auto fresh = transaction.insert_creation(ask);
  if (!fresh) return fail(fresh.error());
  if (*fresh) {
    return Taking{.answer = {.how = Acquisition::kAcquired, .creation = **std::move(fresh)}};
  }
  auto there = transaction.find_creation(ask.key);
  if (!there) return fail(there.error());
  if (!*there) return fail(ErrorCode::kConflict, "the key was deleted just now: look again");
  Creation& creation = **there;
  if (is_mine(creation, ask)) {
    return Taking{.answer = {.how = Acquisition::kAcquired, .creation = std::move(creation)}};
  }
  const Result<TimePoint> now = transaction.now();
  if (!now) return fail(now.error());
  switch (judge(creation, ask, *now)) {
    case KeyVerdict::kTake: return take_over(transaction, ask, *now);
    case KeyVerdict::kReplay:
      return Taking{.answer = {.how = Acquisition::kReplayed, .creation = std::move(creation)}};
    case KeyVerdict::kInProgress:
      return Taking{.answer = {.how = Acquisition::kInProgress, .creation = std::move(creation)}};
    case KeyVerdict::kOther: return Taking{.refused = other_request(creation, ask)};
  }
  std::abort();
}

Result<Acquired> TransactionalCreates::take(const CreateAsk& ask, Duration within) {
  if (Result<> valid = check(ask); !valid) return fail(valid.error());
  Taking taking;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        auto taken = take_creation(transaction, ask);
        if (!taken) return Result<>(fail(taken.error()));
        taking = *std::move(taken);
        return Result<>();
      });
  if (!ran && ran.error().code == ErrorCode::kConflict) {
    return fail(ErrorCode::kUnavailable, "the idempotency key kept changing hands: call again");
  }
  if (!ran) return fail(ran.error());
  if (taking.refused) return fail(*taking.refused);
  return std::move(taking.answer);
}

Result<bool> TransactionalCreates::succeed(const CreateHold& hold, std::string_view value,
                                           Duration within) {
  const KeptValue kept = kept_value(value);
  return end(hold, {.state = CreateState::kSucceeded, .value = kept.text, .is_cut = kept.is_cut},
             within);
}

Result<bool> TransactionalCreates::give_up(const CreateHold& hold, std::string_view error,
                                           Duration within) {
  const std::string clean = kept_error(error);
  return end(hold, {.state = CreateState::kFailed, .error = clean}, within);
}

Result<bool> TransactionalCreates::end(const CreateHold& hold, const CreateEnd& end,
                                       Duration within) {
  if (Result<> valid = check(hold.key); !valid) return fail(valid.error());
  bool ended = false;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<bool> written = transaction.end_creation(hold, end);
        if (!written) return Result<>(fail(written.error()));
        ended = *written;
        if (ended) return Result<>();
        // A repeat finds what the first run has done.
        const auto there = transaction.find_creation(hold.key);
        if (!there) return Result<>(fail(there.error()));
        ended = *there && (*there)->fence == hold.fence && (*there)->state == end.state;
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return ended;
}

Result<std::optional<Creation>> TransactionalCreates::find(const CreateKey& key, Duration within) {
  if (Result<> valid = check(key); !valid) return fail(valid.error());
  std::optional<Creation> found;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        auto there = transaction.find_creation(key);
        if (!there) return Result<>(fail(there.error()));
        found = *std::move(there);
        if (found && found->expires_at <= *now) found = std::nullopt;
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return found;
}

Result<std::size_t> TransactionalCreates::sweep(std::size_t limit, Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  std::size_t swept = 0;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        const Result<std::size_t> deleted = transaction.delete_creations_before(*now, limit);
        if (!deleted) return Result<>(fail(deleted.error()));
        swept = *deleted;
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return swept;
}

Result<std::string> TransactionalCreates::run_held(const Creation& creation, Guest& guest,
                                                   CreateWork work, FunctionRef<Result<>()> undo) {
  // Only what is undone may be tried again at once; else the lock ends by itself.
  const auto mark_failed = [&](const std::string& error) {
    if (undo()) (void)give_up(hold_of(creation), error, kGiveUpWithin);
  };
  Result<std::string> value;
  try {
    value = work(guest, creation);
  } catch (...) {
    mark_failed(what_was_thrown());
    throw;
  }
  if (!value) mark_failed(value.error().message);
  return value;
}

Result<Acquired> TransactionalCreates::create_alone(const CreateAsk& ask, Duration within,
                                                    CreateWork work) {
  Outsider outsider(*this, within);
  // As this class has it: an outsider is in nobody's transaction, whatever the database.
  return TransactionalCreates::create_within(outsider, ask, within, work);
}

Result<Acquired> TransactionalCreates::create_within(Guest& guest, const CreateAsk& ask,
                                                     Duration within, CreateWork work) {
  auto taken = take(ask, within);
  if (!taken || taken->how != Acquisition::kAcquired) return taken;
  if (Result<> set = guest.set_savepoint(); !set) return fail(set.error());
  const Result<std::string> value =
      run_held(taken->creation, guest, work, [&] { return guest.undo_to_savepoint(); });
  if (!value) return fail(value.error());
  if (Result<> marked = guest.mark_created(hold_of(taken->creation), *value, Mark::kNow); !marked) {
    (void)guest.undo_to_savepoint();
    return fail(marked.error());
  }
  taken->creation = succeeded(std::move(taken->creation), *value);
  return taken;
}

}  // namespace recourse::store
