#include "degrade/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/thread_name.h"
#include "degrade/failure.h"
#include "degrade/submission_bytes.h"
#include "engine/submits.h"
#include "store/limits.h"
#include "task/record.h"

namespace recourse::degrade {
namespace {

// Between two looks whether the store is back.
constexpr Duration kPauseMin = std::chrono::milliseconds(100);
constexpr Duration kPauseMax = std::chrono::seconds(3);
// While the spool is emptied; whoever stops it waits no longer than that.
constexpr Duration kEmptyingPatience = std::chrono::seconds(2);
// Without a spool there is nothing to fall back on: as long as the node's own calls take.
constexpr Duration kOnlyHopePatience = std::chrono::seconds(15);
constexpr std::size_t kBatch = 200;

}  // namespace

Duration delay_left(const store::Submission& submission, TimePoint now) {
  const Duration waited = std::max(now - failed_at(submission.id), Duration::zero());
  return std::max(submission.delay - waited, Duration::zero());
}

Duration time_until_repeat(const std::vector<store::Submission>& batch, TimePoint now) {
  Duration left = Duration::zero();
  for (const store::Submission& one : batch) {
    left = std::max(left, kRepeatAfter - (now - failed_at(one.id)));
  }
  // A clock that went back must not keep a record from the store for ever.
  return std::min(left, kRepeatAfter);
}

Recorder::Recorder(const Parts& parts, std::unique_ptr<Spool> spool, Duration patience)
    : parts_(parts), spool_(std::move(spool)), patience_(spool_ ? patience : kOnlyHopePatience) {
  if (spool_ && spool_->torn_bytes() > 0) {
    parts_.log.info("degrade_spool_torn", {{"directory", spool_->directory().string()},
                                           {"bytes", std::to_string(spool_->torn_bytes())}});
  }
  if (spool_) thread_ = std::thread([this] { empty_spool(); });
}

Recorder::~Recorder() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<Recorded> Recorder::record(const store::Submission& submission, store::Novelty novelty) {
  if (Result<> valid = task::validate(submission.spec); !valid) return fail(valid.error());
  const bool holds_something = spool_ && !spool_->empty();
  bool failed_last = false;
  {
    MutexLock lock(mutex_);
    failed_last = store_failed_;
  }
  if (!asks_store(failed_last, holds_something)) return spool_it(submission, nullptr);
  const Result<Recorded> stored = store_it(submission, novelty);
  if (stored) return stored;
  if (!is_worth_spooling(stored.error().code)) return fail(stored.error());
  return spool_it(submission, &stored.error());
}

Result<Recorded> Recorder::store_it(const store::Submission& submission, store::Novelty novelty) {
  const engine::Submits sent = engine::Submits::send(parts_.node, {submission}, novelty);
  (void)sent.wait(patience_);
  const Result<engine::Submits::Answer> answer = sent.results().front();
  const Result<store::Insertion> result =
      answer ? Result<store::Insertion>(answer->result) : fail(answer.error());
  set_store_failed(!result && is_worth_spooling(result.error().code));
  if (!result) return fail(result.error());
  const bool is_repeated =
      novelty == store::Novelty::kRepeat && *result == store::Insertion::kRepeated;
  if (is_repeated) {
    if (Result<> same = check_repeated(submission); !same) return fail(same.error());
  }
  return Recorded{.where = Where::kStore, .is_repeated = is_repeated};
}

Result<> Recorder::check_repeated(const store::Submission& submission) {
  const auto there = parts_.reader.find(submission.id, patience_);
  if (!there) {
    // Finished, and deleted since.
    return there.error().code == ErrorCode::kNotFound ? Result<>() : fail(there.error());
  }
  if (is_same_record(*there, submission)) return {};
  return fail(id_is_taken(*there, submission.spec.tenant));
}

Result<Recorded> Recorder::spool_it(const store::Submission& submission, const Error* store_error) {
  if (!spool_) {
    return fail(store_error->code,
                fmt::format("{}; nothing was recorded of {}: give the degrade door a spool to be "
                            "safe from that",
                            store_error->message, task::to_string(submission.id)));
  }
  if (Result<> kept = spool_->append(to_bytes(submission)); !kept) {
    parts_.log.error("degrade_not_recorded", {{"task", task::to_string(submission.id)},
                                              {"kind", submission.spec.kind.value},
                                              {"error", kept.error().message}});
    return fail(kept.error().code,
                fmt::format("the store does not answer, and {}; nothing was recorded of {}",
                            kept.error().message, task::to_string(submission.id)));
  }
  {
    MutexLock lock(mutex_);
    filled_ = true;
  }
  changed_.notify_all();
  return Recorded{.where = Where::kSpool};
}

void Recorder::set_store_failed(bool failed) {
  bool changed = false;
  {
    MutexLock lock(mutex_);
    changed = std::exchange(store_failed_, failed) != failed;
  }
  if (!changed || !spool_) return;
  if (failed) {
    parts_.log.warning("degrade_spooling", {{"directory", spool_->directory().string()}});
  } else {
    parts_.log.info("degrade_store_back", {{"directory", spool_->directory().string()}});
  }
}

void Recorder::empty_spool() {
  name_this_thread("degrade-spool");
  Duration pause = kPauseMin;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!closing_ && !filled_) changed_.wait(mutex_);
      if (closing_) return;
      filled_ = false;
    }
    while (!spool_->empty()) {
      const bool emptied = empty_oldest();
      pause = emptied ? kPauseMin : std::min(pause * 2, kPauseMax);
      if (is_closing_within(emptied ? Duration::zero() : pause)) return;
    }
  }
}

bool Recorder::is_closing_within(Duration pause) {
  const auto until = std::chrono::steady_clock::now() + pause;
  MutexLock lock(mutex_);
  while (!closing_) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
  }
  return closing_;
}

bool Recorder::empty_oldest() {
  const auto batch = spool_->oldest();
  if (!batch || !*batch) {
    if (!batch) parts_.log.error("degrade_spool_unreadable", {{"error", batch.error().message}});
    return batch.has_value();
  }
  bool all_read = true;
  std::vector<store::Submission> records = read(**batch, all_read);
  const std::size_t count = records.size();
  if (is_closing_within(time_until_repeat(records, parts_.clock.now()))) return false;
  std::size_t refused = 0;
  for (std::size_t begin = 0; begin < count; begin += kBatch) {
    const std::size_t end = std::min(begin + kBatch, count);
    const auto part = std::span(records).subspan(begin, end - begin);
    const Result<std::size_t> submitted =
        submit_again({std::make_move_iterator(part.begin()), std::make_move_iterator(part.end())});
    if (!submitted) return false;
    set_store_failed(false);
    refused += *submitted;
  }
  const bool is_clean = all_read && refused == 0;
  const Result<> ended = is_clean ? spool_->finish(**batch) : spool_->set_aside(**batch);
  if (!ended) {
    parts_.log.error("degrade_spool_stuck", {{"error", ended.error().message}});
    return false;
  }
  parts_.log.info("degrade_spool_emptied", {{"records", std::to_string(count)}});
  return true;
}

std::vector<store::Submission> Recorder::read(const Spool::Batch& batch, bool& all_read) {
  std::vector<store::Submission> records;
  std::size_t unreadable = 0;
  for (const std::string& bytes : batch.records) {
    Result<store::Submission> record = submission_from(bytes);
    if (!record) {
      ++unreadable;
      continue;
    }
    record->delay = delay_left(*record, parts_.clock.now());
    records.push_back(*std::move(record));
  }
  all_read = unreadable == 0 && batch.damaged == 0;
  if (!all_read) {
    parts_.log.error("degrade_spool_damaged", {{"directory", spool_->directory().string()},
                                               {"segment", std::to_string(batch.segment)},
                                               {"unreadable_records", std::to_string(unreadable)},
                                               {"damaged_bytes", std::to_string(batch.damaged)}});
  }
  return records;
}

Result<std::size_t> Recorder::submit_again(const std::vector<store::Submission>& batch) {
  const engine::Submits sent = engine::Submits::send(parts_.node, batch, store::Novelty::kRepeat);
  (void)sent.wait(kEmptyingPatience);
  std::size_t refused = 0;
  const std::vector<Result<engine::Submits::Answer>> results = sent.results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    Result<> taken = results[i] ? Result<>() : fail(results[i].error());
    if (results[i] && results[i]->result == store::Insertion::kRepeated) {
      taken = check_repeated(batch[i]);
    }
    if (taken) continue;
    const Error& error = taken.error();
    if (is_worth_spooling(error.code)) return fail(error);
    ++refused;
    parts_.log.error("degrade_record_refused",
                     {{"task", task::to_string(batch[i].id)}, {"error", error.message}});
  }
  return refused;
}

}  // namespace recourse::degrade
