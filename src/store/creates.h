// Keys of create calls: who may create under a key, and what came of it.
//
// A key is taken in a transaction of its own, which mints the id of what will be created and keeps
// it with the key: whoever goes on after a crash creates under the same id. Who holds the key has a
// fence and a lock that ends by itself; the mark of success is conditional on the fence, so of two
// holders one is refused.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/result.h"
#include "base/time.h"
#include "base/ulid.h"
#include "store/guest.h"

namespace recourse::store {

inline constexpr std::size_t kCreateBusinessBytesMax = 64;
inline constexpr std::size_t kCreateKeyBytesMax = 255;
inline constexpr std::size_t kCreateTenantBytesMax = 100;
// A longer value is cut, and not handed out.
inline constexpr std::size_t kCreateValueBytesMax = 4'096;
inline constexpr std::size_t kCreateErrorCharactersMax = 1'000;

enum class CreateState : std::uint8_t { kProcessing, kSucceeded, kFailed };

inline constexpr std::array kAllCreateStates{CreateState::kProcessing, CreateState::kSucceeded,
                                             CreateState::kFailed};

constexpr std::string_view to_string(CreateState state) {
  switch (state) {
    case CreateState::kProcessing: return "processing";
    case CreateState::kSucceeded: return "succeeded";
    case CreateState::kFailed: return "failed";
  }
  std::abort();
}

struct CreateKey {
  std::string tenant;
  std::string business;  // ORDER_CREATE
  std::string key;       // the caller's, any bytes

  friend auto operator<=>(const CreateKey&, const CreateKey&) = default;
};

struct Creation {
  CreateKey key;
  std::string resource;  // ord
  std::string hash;      // of the request, 64 hex digits
  CreateState state = CreateState::kProcessing;
  // Raised with each holder.
  std::int64_t fence = 1;
  Ulid id;
  std::string value = {};
  // The value was longer: `value` is its beginning only.
  bool is_cut = false;
  // Of the last holder that failed.
  std::string error = {};
  TimePoint locked_until = {};
  TimePoint created_at = {};
  TimePoint expires_at = {};

  friend bool operator==(const Creation&, const Creation&) = default;
};

// `ord_01J...`
std::string public_id_of(const Creation& creation);

struct CreateAsk {
  CreateKey key;
  std::string resource;
  std::string hash;
  // Of what is created, where the key has none yet.
  Ulid id;
  // How long an answer is replayed, and how long a holder has.
  Duration ttl;
  Duration lock_ttl;
};

enum class Acquisition : std::uint8_t {
  kAcquired,    // this call has the key, and creates
  kReplayed,    // it was created before
  kInProgress,  // somebody else has the key
};

struct Acquired {
  Acquisition how = Acquisition::kInProgress;
  Creation creation = {};
};

// What its holder knows the key by.
struct CreateHold {
  CreateKey key;
  std::int64_t fence = 0;
};

inline CreateHold hold_of(const Creation& creation) { return {creation.key, creation.fence}; }

// How a holder ends. Views: what they point to outlives the call.
struct CreateEnd {
  CreateState state = CreateState::kSucceeded;
  std::string_view value = {};
  bool is_cut = false;
  std::string_view error = {};
};

// Creates, and answers the value to be replayed. It runs on the caller's thread; what it throws
// goes on to the caller.
using CreateWork = FunctionRef<Result<std::string>(Guest&, const Creation&)>;

class Creates {
 public:
  virtual ~Creates() = default;

  // kConflict: the key stands for another request.
  virtual Result<Acquired> acquire(const CreateAsk& ask, Duration within) = 0;
  // False: the hold is over, and somebody else may have the key.
  virtual Result<bool> succeed(const CreateHold& hold, std::string_view value, Duration within) = 0;
  // The key can be tried again at once.
  virtual Result<bool> give_up(const CreateHold& hold, std::string_view error, Duration within) = 0;
  virtual Result<std::optional<Creation>> find(const CreateKey& key, Duration within) = 0;
  // Deletes up to `limit` whose time is over; answers how many.
  virtual Result<std::size_t> sweep(std::size_t limit, Duration within) = 0;

  // A caller's own transaction on a connection of the store's: commits when `work` succeeds, and
  // rolls back all of it otherwise. It is run once, on the caller's thread, and cut off when
  // `within` is over. What it throws goes on to the caller. On SQLite everybody waits for the one
  // writer meanwhile, so the work is short. kInvalid on a store in memory.
  virtual Result<> transact(Duration within, FunctionRef<Result<>(Guest&)> work) = 0;

  // All of it: takes the key, runs the work in a new transaction and commits that with the mark of
  // success, or marks the failure. A returned kAcquired is on disk. The work is cut off when its
  // lock ends: kUnavailable, and nothing of it is left. `within` is for taking the key.
  virtual Result<Acquired> create(const CreateAsk& ask, Duration within, CreateWork work) = 0;
  // Without a transaction: the work has none of its own, and the mark comes after it. One whose
  // lock ends in between may be run again, under the same id.
  virtual Result<Acquired> create_alone(const CreateAsk& ask, Duration within, CreateWork work) = 0;
  // The same inside of the guest's transaction: the key is taken in one of its own, and the mark of
  // success goes with the guest's.
  virtual Result<Acquired> create_within(Guest& guest, const CreateAsk& ask, Duration within,
                                         CreateWork work) = 0;
};

}  // namespace recourse::store
