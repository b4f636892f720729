// Creates exactly once: the rules of waiting and replaying around the keys of a store.
//
// Safe to use from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "base/ulid_source.h"
#include "store/creates.h"

namespace recourse::create {

enum class Mode : std::uint8_t {
  kRequiresNew,  // work and mark commit in a new transaction
  kRequired,     // both join the caller's
  kAwareOnly,    // no transaction; the work may run twice under one id
};

inline constexpr std::array kAllModes{Mode::kRequiresNew, Mode::kRequired, Mode::kAwareOnly};

constexpr std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::kRequiresNew: return "REQUIRES_NEW";
    case Mode::kRequired: return "REQUIRED";
    case Mode::kAwareOnly: return "AWARE_ONLY";
  }
  std::abort();
}

struct Request {
  std::int64_t tenant = 0;
  std::string business_type = {};
  std::string resource_type = {};
  std::string key = {};
  std::string request_hash = {};
  Duration ttl = std::chrono::hours(24);
  Duration lock_ttl = std::chrono::seconds(30);
  Mode mode = Mode::kRequiresNew;
  bool wait_for_completion = false;
  Duration wait_max = Duration::zero();
};

// Every bad field by its name.
Result<> check(const Request& request);

class Creator {
 public:
  struct Settings {
    bool enabled = true;
    // Of taking a key.
    Duration store_timeout = std::chrono::seconds(10);
  };

  // All of it must outlive this.
  Creator(store::Creates& creates, UlidSource& ids, const Settings& settings)
      : creates_(creates), ids_(ids), settings_(settings) {}

  // kConflict: the key stands for another request. kUnavailable, where it waited: the call that had
  // the key failed. Errors of the work, and what it throws, go on to the caller. `joined` is the
  // caller's transaction, of kRequired.
  Result<store::Acquired> run(const Request& request, store::CreateWork work,
                              store::Guest* joined = nullptr);
  [[nodiscard]] bool is_enabled() const { return settings_.enabled; }
  // Only takes the key, for whoever works elsewhere.
  Result<store::Acquired> acquire(const Request& request);

 private:
  using Take = FunctionRef<Result<store::Acquired>(const store::CreateAsk&)>;

  Result<store::Acquired> run_checked(const Request& request, Take take);
  // Until it is over, or the longest wait is.
  Result<store::Acquired> wait(const Request& request, const store::CreateAsk& ask, Take take);
  void sweep_now_and_then();

  store::Creates& creates_;
  UlidSource& ids_;
  const Settings settings_;
  std::atomic<std::uint64_t> calls_ = 0;
};

}  // namespace recourse::create
