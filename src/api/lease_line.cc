#include "api/lease_line.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/desk.h"

namespace recourse::api {
namespace {

// How long what others submitted may go unseen; what this node submitted is seen at once.
constexpr auto kLeaseLookEvery = std::chrono::milliseconds(500);

}  // namespace

LeaseLine::LeaseLine(engine::LeaseDesk& leases, store::Reader& reader, const Clock& clock)
    : leases_(leases), reader_(reader), clock_(clock), thread_([this] { run(); }) {}

LeaseLine::~LeaseLine() {
  close();
  thread_.join();
}

void LeaseLine::close() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
}

bool LeaseLine::wait(engine::LeaseWish wish, Duration at_most, Leased leased,
                     std::function<bool()> is_gone) {
  {
    MutexLock lock(mutex_);
    if (line_.size() >= kWaitingWorkersMax || closing_) return false;
    line_.push_back(
        {std::move(wish), clock_.since_boot() + at_most, std::move(leased), std::move(is_gone)});
    nudged_ = true;
  }
  changed_.notify_all();
  return true;
}

void LeaseLine::nudge() {
  {
    MutexLock lock(mutex_);
    if (line_.empty()) return;
    nudged_ = true;
  }
  changed_.notify_all();
}

void LeaseLine::run() {
  while (true) {
    std::deque<Waiting> line;
    bool closing = false;
    {
      MutexLock lock(mutex_);
      while (line_.empty() && !closing_) changed_.wait(mutex_);
      if (!nudged_ && !closing_) changed_.wait_for(mutex_, kLeaseLookEvery);
      nudged_ = false;
      closing = closing_;
      line.swap(line_);
    }
    if (!closing) serve(line);
    const BootTime now = clock_.since_boot();
    std::erase_if(line, [&](const Waiting& waiting) {
      if (!closing && waiting.until > now) return false;
      waiting.leased(std::vector<task::Task>());
      return true;
    });
    MutexLock lock(mutex_);
    if (closing && line_.empty()) return;
    // Those who came meanwhile are behind.
    line_.insert(line_.begin(), std::make_move_iterator(line.begin()),
                 std::make_move_iterator(line.end()));
  }
}

std::set<task::Kind> LeaseLine::kinds_with_work(const std::deque<Waiting>& line) {
  std::set<task::Kind> kinds;
  for (const Waiting& waiting : line) {
    kinds.insert(waiting.wish.kinds.begin(), waiting.wish.kinds.end());
  }
  std::erase_if(kinds, [&](const task::Kind& kind) {
    const auto backlog = reader_.backlog(kind, kPatience);
    // Where the store does not answer, the claim itself says so.
    return backlog && backlog->due == 0;
  });
  return kinds;
}

bool LeaseLine::serve_one(const Waiting& waiting, std::set<task::Kind>& due) {
  if (waiting.is_gone && waiting.is_gone()) {
    waiting.leased(std::vector<task::Task>());
    return true;
  }
  engine::LeaseWish wish = waiting.wish;
  std::erase_if(wish.kinds, [&](const task::Kind& kind) { return !due.contains(kind); });
  if (wish.kinds.empty()) return false;
  auto tasks = leases_.lease(wish, kPatience);
  if (tasks && tasks->empty()) {
    for (const task::Kind& kind : wish.kinds) due.erase(kind);
    return false;
  }
  waiting.leased(std::move(tasks));
  return true;
}

void LeaseLine::serve(std::deque<Waiting>& line) {
  std::set<task::Kind> due = kinds_with_work(line);
  std::erase_if(line,
                [&](const Waiting& waiting) { return !due.empty() && serve_one(waiting, due); });
}

}  // namespace recourse::api
