#include "store/postgres/hints.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/invariant.h"

namespace recourse::store::postgres {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

// Nodes of one schema in a database hear each other; those of another database do not anyway.
constexpr const char* kChannel = "recourse_hint";
constexpr Duration kConnectMax = 10s;
constexpr Duration kSayMax = 5s;
// The first goes at once.
constexpr Duration kBetweenHints = 5ms;
constexpr Duration kFirstPause = 500ms;
constexpr Duration kLongestPause = 30s;

}  // namespace

PostgresHints::PostgresHints(std::string url, Heard heard)
    : url_(std::move(url)),
      heard_(std::move(heard)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  invariant(wake_ >= 0, "a process may have one more descriptor");
  thread_ = std::thread([this] { work(); });
}

PostgresHints::~PostgresHints() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  wake();
  thread_.join();
  close(wake_);
}

void PostgresHints::wake() {
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
}

void PostgresHints::calm() {
  std::uint64_t count = 0;
  (void)!read(wake_, &count, sizeof count);
}

bool PostgresHints::closing() const {
  MutexLock lock(mutex_);
  return closing_;
}

bool PostgresHints::pause(Duration length) {
  const auto until = Steady::now() + length;
  MutexLock lock(mutex_);
  while (!closing_) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
  }
  return !closing_;
}

void PostgresHints::send(Hint hint) {
  {
    MutexLock lock(mutex_);
    if (std::exchange(to_send_.at(static_cast<std::size_t>(hint)), true)) return;
  }
  wake();
}

void PostgresHints::work() {
  Duration wait = kFirstPause;
  while (!closing()) {
    auto line = sql::postgres::HintLine::open(url_, kChannel, Steady::now() + kConnectMax);
    if (line) {
      wait = kFirstPause;
      hear_and_say(*line);
    }
    if (!pause(wait)) return;
    wait = std::min(wait * 2, kLongestPause);
  }
}

void PostgresHints::hear_and_say(sql::postgres::HintLine& line) {
  while (!closing()) {
    if (!say_what_waits(line)) return;
    const auto words = line.hear(wake_);
    if (!words) return;
    for (const Hint hint : kAllHints) {
      if (std::ranges::find(*words, to_string(hint)) != words->end()) heard_(hint);
    }
  }
}

Result<> PostgresHints::say_what_waits(sql::postgres::HintLine& line) {
  calm();
  std::array<bool, kAllHints.size()> waiting{};
  {
    MutexLock lock(mutex_);
    waiting = std::exchange(to_send_, {});
  }
  bool any = false;
  for (const Hint hint : kAllHints) {
    if (!waiting.at(static_cast<std::size_t>(hint))) continue;
    any = true;
    if (Result<> said = line.say(to_string(hint), Steady::now() + kSayMax); !said) return said;
  }
  if (any) (void)pause(kBetweenHints);
  return {};
}

}  // namespace recourse::store::postgres
