// Create exactly once: a create call that is repeated, by a client that lost the answer or by two
// at the same time, creates one thing under one id and is answered the same.
//
//   recourse::Create create(engine);
//   auto order = create.run<Placed>(
//       {.tenant = 7, .business_type = "ORDER_CREATE", .resource_type = "ord",
//        .key = idempotency_key, .request_hash = recourse::request_hash(body).value()},
//       [&](recourse::CreateTransaction& own,
//           const recourse::NewResource& id) -> recourse::Result<Placed> {
//         auto done = own.execute("INSERT INTO orders (id, public_id) VALUES (?, ?)",
//                                 {id.internal_id, id.public_id});
//         if (!done) return recourse::fail(done.error());
//         return Placed{id.public_id};
//       });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "recourse/codec.h"
#include "recourse/engine.h"
#include "recourse/options.h"
#include "recourse/result.h"
#include "recourse/sql.h"
#include "recourse/time.h"

// The drivers' own declarations; whoever lends a connection has its header.
struct pg_conn;   // NOLINT(readability-identifier-naming)
struct st_mysql;  // NOLINT(readability-identifier-naming)

namespace recourse {

namespace store {
class Guest;
}  // namespace store

enum class TransactionMode : std::uint8_t {
  // Work and success commit together in a new transaction, before run() returns: an id that was
  // answered is on disk.
  kRequiresNew,
  // Both join a transaction of the caller's (run_within), and are gone where that rolls back. The
  // key is taken in one of its own: until the caller commits, or the lock ends, others are told
  // that it is in progress.
  kRequired,
  // No transaction. A holder that dies between its work and the mark is succeeded by another: the
  // work may run twice under one public id, and has to bear that.
  kAwareOnly,
};

struct CreateRequest {
  // Positive; elsewhere its decimal text.
  std::int64_t tenant = 0;
  // ORDER_CREATE: keys of different business types are different keys.
  std::string business_type = {};
  // Of the public id: 2 to 10 of a-z and 0-9.
  std::string resource_type = {};
  // The caller's Idempotency-Key, 1 to 255 bytes.
  std::string key = {};
  // See request_hash(): the same key with another one is refused.
  std::string request_hash = {};
  // How long the answer is replayed.
  Duration ttl = std::chrono::hours(24);
  // How long the work may take; then it is cut off, and another call may create. On SQLite, where
  // everybody waits for the one writer, at most 10 seconds.
  Duration lock_ttl = std::chrono::seconds(30);
  TransactionMode mode = TransactionMode::kRequiresNew;
  // Where somebody else has the key: wait, up to wait_max, instead of answering in_progress.
  bool wait_for_completion = false;
  Duration wait_max = Duration::zero();
};

// What the work creates under.
struct NewResource {
  // 16 bytes, for a primary key (BINARY(16), bytea, BLOB). It sorts by time. Not for the outside.
  SqlBytes internal_id;
  // `ord_01J...`, at most 37 characters.
  std::string public_id;
};

template <class T>
struct Created {
  // It was created before, and nothing was run.
  bool replayed = false;
  // Somebody else is about to create it: nothing below is set. Ask again later.
  bool in_progress = false;
  std::string public_id = {};
  SqlBytes internal_id = {};
  // Empty in a replay of a value that took more than 4,096 bytes.
  std::optional<T> value = std::nullopt;
};

// The transaction in which a work runs. On the thread of the work, and no longer than it.
class CreateTransaction {
 public:
  // Rows inserted, deleted, or found by an update. An error leaves the transaction lost on
  // PostgreSQL and MariaDB: answer it.
  Result<std::int64_t> execute(std::string_view statement, const SqlValues& values = {});
  Result<std::vector<SqlRow>> query(std::string_view statement, const SqlValues& values = {});

  // A task that exists if, and only if, the transaction commits: what has to happen after it.
  Result<TaskIdText> submit_bytes(std::string_view kind, std::string payload,
                                  const SubmitOptions& options = {});
  template <class T>
    requires(!std::is_convertible_v<T, std::string_view>)
  Result<TaskIdText> submit(std::string_view kind, const T& payload,
                            const SubmitOptions& options = {}) {
    Result<std::string> bytes = encode_payload(payload);
    if (!bytes) return fail(bytes.error());
    return submit_bytes(kind, *std::move(bytes), options);
  }

  // The driver's own handle, for statements of your own; its transaction is not yours to end. Valid
  // until the next call here. kInvalid on another database; SQLite's is not lent.
  Result<pg_conn*> postgres();
  Result<st_mysql*> mysql();

 private:
  friend class Create;
  friend class detail::MessageAccess;
  CreateTransaction(store::Guest& guest, Engine::Impl& engine) : guest_(&guest), engine_(&engine) {}
  explicit CreateTransaction(Engine::Impl& engine) : engine_(&engine) {}

  std::shared_ptr<store::Guest> owned_;
  bool has_submitted_ = false;
  store::Guest* guest_ = nullptr;
  Engine::Impl* engine_;
};

// The SHA-256 of the request as canonical JSON (RFC 8785), in hex: the same for the same request,
// however it was written. kInvalid: it is no JSON.
Result<std::string> request_hash(std::string_view json);

struct CreateOptions {
  // False: every run() is refused.
  bool enabled = true;
};

// Safe to use from any thread. The engine must outlive it; it need not be started.
class Create {
 public:
  using Work =
      std::function<Result<std::string>(CreateTransaction& own, const NewResource& resource)>;

  explicit Create(Engine& engine, const CreateOptions& options = {});
  ~Create();
  Create(const Create&) = delete;
  Create& operator=(const Create&) = delete;

  // Runs the work where nobody has done so under this key. Its value is kept, and replayed.
  //
  // Errors by what to do: kInvalid, correct the request, every bad field is named; kConflict, the
  // key stands for another request, or the lock ended before the work did; kInDoubt, the reply to
  // the commit was lost: call again with the same key; kUnavailable, the store did not answer, the
  // work was cut off, or, having waited, the call that had the key failed: call again. An error of
  // the work, and what it throws, comes out as it is; the key can be tried again.
  Result<Created<std::string>> run_bytes(const CreateRequest& request, const Work& work);
  template <class T, class F>
  Result<Created<T>> run(const CreateRequest& request, F work) {
    return typed<T>(request, std::move(work), nullptr);
  }

  // The same inside a transaction of the caller's own; the mode is kRequired. It never waits for
  // another call. What a work that fails wrote is undone, the rest of the transaction stays.
  Result<Created<std::string>> run_bytes_within(CreateTransaction& own,
                                                const CreateRequest& request, const Work& work);
  template <class T, class F>
  Result<Created<T>> run_within(CreateTransaction& own, const CreateRequest& request, F work) {
    return typed<T>(request, std::move(work), &own);
  }

  // A connection of the caller's, inside of its open transaction.
  Result<CreateTransaction> join(pg_conn* lent);
  Result<CreateTransaction> join(st_mysql* lent);
  // A transaction of the caller's on a connection of the store's: commits when the work succeeds,
  // else rolls back. It is cut off after `within`. On SQLite, where all writes go through one
  // writer, everybody else waits meanwhile, and 10 seconds are the most.
  Result<> transact(Duration within, const std::function<Result<>(CreateTransaction&)>& work);

  // Forgets keys whose time is over; answers how many. run() does so now and then by itself.
  Result<std::size_t> clean_up();

 private:
  template <class T, class F>
  Result<Created<T>> typed(const CreateRequest& request, F work, CreateTransaction* own) {
    std::optional<T> fresh;
    const Work bytes = [&](CreateTransaction& within,
                           const NewResource& resource) -> Result<std::string> {
      Result<T> value = work(within, resource);
      if (!value) return fail(value.error());
      Result<std::string> encoded = encode_payload(*value);
      if (encoded) fresh = *std::move(value);
      return encoded;
    };
    auto created =
        own == nullptr ? run_bytes(request, bytes) : run_bytes_within(*own, request, bytes);
    if (!created) return fail(created.error());
    Created<T> answer{.replayed = created->replayed,
                      .in_progress = created->in_progress,
                      .public_id = std::move(created->public_id),
                      .internal_id = std::move(created->internal_id)};
    if (!created->replayed) {
      answer.value = std::move(fresh);
    } else if (created->value) {
      Result<T> kept = decode_payload<T>(*created->value);
      if (!kept) return fail(kept.error());
      answer.value = *std::move(kept);
    }
    return answer;
  }

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace recourse
