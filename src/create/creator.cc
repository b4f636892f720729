#include "create/creator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <thread>
#include <utility>

#include "base/field_checks.h"
#include "store/create_rules.h"

namespace recourse::create {
namespace {

using namespace std::chrono_literals;
using store::Acquired;
using store::Acquisition;
using store::CreateState;

constexpr Duration kFirstPause = 10ms;
constexpr Duration kLongestPause = 250ms;
constexpr std::uint64_t kCallsBetweenSweeps = 500;
constexpr std::size_t kSweptAtOnce = 500;

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return text;
}

store::CreateAsk ask_of(const Request& request, const Ulid& id) {
  return {.key = {.tenant = std::to_string(request.tenant),
                  .business = request.business_type,
                  .key = request.key},
          .resource = request.resource_type,
          .hash = in_lower_case(request.request_hash),
          .id = id,
          .ttl = request.ttl,
          .lock_ttl = request.lock_ttl};
}

}  // namespace

Result<> check(const Request& request) {
  const Result<> own =
      FieldChecks("create")
          .require(request.tenant > 0, "tenant",
                   fmt::format("must be a positive number, not {}", request.tenant))
          .between<Duration>("wait_max", request.wait_max, 0s, 1h)
          .require(!request.wait_for_completion || request.wait_max > Duration::zero(), "wait_max",
                   "must say how long to wait where wait_for_completion is set")
          .result();
  const Result<> rest = store::check(ask_of(request, Ulid()));
  if (own && rest) return {};
  if (own || rest) return own ? rest : own;
  return fail(ErrorCode::kInvalid, own.error().message + "; " + rest.error().message);
}

Result<Acquired> Creator::run(const Request& request, store::CreateWork work,
                              store::Guest* joined) {
  if ((request.mode == Mode::kRequired) != (joined != nullptr)) {
    return fail(ErrorCode::kInvalid,
                joined == nullptr
                    ? "create.mode is REQUIRED, which joins a transaction of the caller's: give it"
                    : "create.mode must be REQUIRED where a transaction of the caller's is given");
  }
  // Whoever waits inside of a transaction may hold up the one that is waited for.
  Request asked = request;
  if (joined != nullptr) asked.wait_for_completion = false;
  return run_checked(asked, [&](const store::CreateAsk& ask) {
    switch (request.mode) {
      case Mode::kRequiresNew: return creates_.create(ask, settings_.store_timeout, work);
      case Mode::kRequired:
        return creates_.create_within(*joined, ask, settings_.store_timeout, work);
      case Mode::kAwareOnly: return creates_.create_alone(ask, settings_.store_timeout, work);
    }
    std::abort();
  });
}

Result<Acquired> Creator::acquire(const Request& request) {
  return run_checked(request, [&](const store::CreateAsk& ask) {
    return creates_.acquire(ask, settings_.store_timeout);
  });
}

Result<Acquired> Creator::run_checked(const Request& request, Take take) {
  if (!settings_.enabled) {
    return fail(ErrorCode::kInvalid, "idempotent create is switched off: set create.enabled");
  }
  if (Result<> valid = check(request); !valid) return fail(valid.error());
  sweep_now_and_then();
  const store::CreateAsk ask = ask_of(request, ids_.next());
  Result<Acquired> taken = take(ask);
  if (!taken || taken->how != Acquisition::kInProgress || !request.wait_for_completion) {
    return taken;
  }
  return wait(request, ask, take);
}

Result<Acquired> Creator::wait(const Request& request, const store::CreateAsk& ask, Take take) {
  const auto until = std::chrono::steady_clock::now() + request.wait_max;
  Duration pause = kFirstPause;
  while (true) {
    const auto left =
        std::chrono::duration_cast<Duration>(until - std::chrono::steady_clock::now());
    if (left <= Duration::zero()) return Acquired{};
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(pause * 2, kLongestPause);
    const auto there = creates_.find(ask.key, settings_.store_timeout);
    if (!there) return fail(there.error());
    if (*there && (*there)->state == CreateState::kFailed && (*there)->hash == ask.hash) {
      return fail(ErrorCode::kUnavailable,
                  "the call that had this idempotency key failed, and this one may be repeated: " +
                      (*there)->error);
    }
    // Done, or its holder is gone: then this call goes on in its place.
    Result<Acquired> taken = take(ask);
    if (!taken || taken->how != Acquisition::kInProgress) return taken;
  }
}

// In the place of a thread that would wake up for nothing.
void Creator::sweep_now_and_then() {
  if (++calls_ % kCallsBetweenSweeps != 0) return;
  // What it misses is found the next time.
  (void)creates_.sweep(kSweptAtOnce, settings_.store_timeout);
}

}  // namespace recourse::create
