#include "recourse/create.h"

#include <cstdlib>
#include <utility>

#include "create/canonical_json.h"
#include "create/creator.h"
#include "embed/engine_impl.h"
#include "store/create_rules.h"
#include "store/guest.h"
#include "store/limits.h"
#include "store/mysql/guest.h"
#include "store/postgres/guest.h"

namespace recourse {
namespace {

constexpr std::size_t kSweptAtOnce = store::kPageRowsMax;

create::Mode mode_of(TransactionMode mode) {
  switch (mode) {
    case TransactionMode::kRequiresNew: return create::Mode::kRequiresNew;
    case TransactionMode::kRequired: return create::Mode::kRequired;
    case TransactionMode::kAwareOnly: return create::Mode::kAwareOnly;
  }
  std::abort();
}

create::Request request_of(const CreateRequest& asked) {
  return {.tenant = asked.tenant,
          .business_type = asked.business_type,
          .resource_type = asked.resource_type,
          .key = asked.key,
          .request_hash = asked.request_hash,
          .ttl = asked.ttl,
          .lock_ttl = asked.lock_ttl,
          .mode = mode_of(asked.mode),
          .wait_for_completion = asked.wait_for_completion,
          .wait_max = asked.wait_max};
}

NewResource resource_of(const store::Creation& creation) {
  const auto& bytes = creation.id.bytes;
  return {.internal_id = {std::string(bytes.begin(), bytes.end())},
          .public_id = store::public_id_of(creation)};
}

Created<std::string> created_of(store::Acquired acquired) {
  if (acquired.how == store::Acquisition::kInProgress) return {.in_progress = true};
  NewResource resource = resource_of(acquired.creation);
  Created<std::string> created{.replayed = acquired.how == store::Acquisition::kReplayed,
                               .public_id = std::move(resource.public_id),
                               .internal_id = std::move(resource.internal_id)};
  if (!acquired.creation.is_cut) created.value = std::move(acquired.creation.value);
  return created;
}

}  // namespace

Result<std::string> request_hash(std::string_view json) { return create::request_hash(json); }

Result<std::int64_t> CreateTransaction::execute(std::string_view statement,
                                                const SqlValues& values) {
  return guest_->execute(statement, values);
}

Result<std::vector<SqlRow>> CreateTransaction::query(std::string_view statement,
                                                     const SqlValues& values) {
  return guest_->query(statement, values);
}

Result<TaskIdText> CreateTransaction::submit_bytes(std::string_view kind, std::string payload,
                                                   const SubmitOptions& options) {
  auto submission = engine_->submission_of(
      {.kind = std::string(kind), .payload = std::move(payload), .options = options});
  if (!submission) return fail(submission.error());
  const auto inserted = guest_->submit(std::vector{std::move(submission->submission)});
  if (!inserted) return fail(inserted.error());
  has_submitted_ = true;
  return task::to_string(inserted->items.front().task);
}

Result<pg_conn*> CreateTransaction::postgres() { return guest_->postgres(); }
Result<st_mysql*> CreateTransaction::mysql() { return guest_->mysql(); }

struct Create::Impl {
  Engine& engine;
  store::OpenedStore& opened;
  create::Creator creator;

  Result<Created<std::string>> run(const CreateRequest& request, const Work& work,
                                   store::Guest* joined) {
    bool has_submitted = false;
    const auto in_guest = [&](store::Guest& guest, const store::Creation& creation) {
      CreateTransaction own(guest, *engine.impl_);
      Result<std::string> value = work(own, resource_of(creation));
      has_submitted = own.has_submitted_;
      return value;
    };
    auto acquired = creator.run(request_of(request), in_guest, joined);
    if (!acquired) return fail(acquired.error());
    // What was submitted with it need not wait for the next scan.
    if (has_submitted && joined == nullptr) engine.impl_->tell_owners();
    return created_of(*std::move(acquired));
  }

  Result<CreateTransaction> join(Result<std::unique_ptr<store::Guest>> guest) {
    if (!guest) return fail(guest.error());
    CreateTransaction joined(*engine.impl_);
    joined.owned_ = *std::move(guest);
    joined.guest_ = joined.owned_.get();
    return joined;
  }
};

Create::Create(Engine& engine, const CreateOptions& options)
    : impl_(new Impl{.engine = engine,
                     .opened = *engine.impl_->store.opened,
                     .creator = {engine.impl_->store.opened->creates(),
                                 engine.impl_->ids,
                                 {.enabled = options.enabled}}}) {}
Create::~Create() = default;

Result<Created<std::string>> Create::run_bytes(const CreateRequest& request, const Work& work) {
  return impl_->run(request, work, nullptr);
}

Result<Created<std::string>> Create::run_bytes_within(CreateTransaction& own,
                                                      const CreateRequest& request,
                                                      const Work& work) {
  return impl_->run(request, work, own.guest_);
}

Result<CreateTransaction> Create::join(pg_conn* lent) {
  return impl_->join(store::postgres::guest_on(lent));
}
Result<CreateTransaction> Create::join(st_mysql* lent) {
  return impl_->join(store::mysql::guest_on(lent));
}

Result<> Create::transact(Duration within,
                          const std::function<Result<>(CreateTransaction&)>& work) {
  bool has_submitted = false;
  const Result<> done = impl_->opened.creates().transact(within, [&](store::Guest& guest) {
    CreateTransaction own(guest, *impl_->engine.impl_);
    Result<> worked = work(own);
    has_submitted = own.has_submitted_;
    return worked;
  });
  if (done && has_submitted) impl_->engine.impl_->tell_owners();
  return done;
}

Result<std::size_t> Create::clean_up() {
  std::size_t all = 0;
  while (true) {
    const auto swept = impl_->opened.creates().sweep(kSweptAtOnce, embed::kReadPatience);
    if (!swept) return fail(swept.error());
    all += *swept;
    if (*swept < kSweptAtOnce) return all;
  }
}

}  // namespace recourse
