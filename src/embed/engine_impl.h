// What an Engine holds.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ulid_source.h"
#include "degrade/log_lines.h"
#include "embed/callback_log.h"
#include "embed/convert.h"
#include "embed/end_teller.h"
#include "embed/follow_ups.h"
#include "embed/message_door.h"
#include "embed/notifications.h"
#include "embed/open_store.h"
#include "embed/telling.h"
#include "engine/executor.h"
#include "engine/node.h"
#include "guard/door.h"
#include "message/log_lines.h"
#include "recourse/engine.h"
#include "recourse/guard.h"
#include "task/control.h"
#include "task/new_id.h"

namespace recourse {
namespace embed {

inline constexpr Duration kReadPatience = std::chrono::seconds(10);

inline std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace embed

struct Engine::Impl {
  explicit Impl(const EngineOptions& options)
      : log(options.log),
        answering(std::make_shared<embed::Answering>(
            backoffs, [] { return SystemClock().now(); }, options.router)) {}
  // Nobody is told anything while what they would use is on its way out.
  ~Impl() {
    if (messages) messages->stop(Duration::zero());
    if (guards) guards->stop(Duration::zero());
    if (node) (void)node->stop(Duration::zero());
    if (messages) messages->join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  SystemClock clock;
  embed::CallbackLog log;
  UlidSource ids{clock, embed::random_seed()};
  embed::NamedStore store;
  std::string store_url;
  // Of the node, for people.
  std::string name;
  std::shared_ptr<policy::BackoffRegistry> backoffs = std::make_shared<policy::BackoffRegistry>();
  std::shared_ptr<const embed::Answering> answering;
  std::vector<Middleware> middleware;
  // The first thing that was wrong before start().
  std::optional<Error> wrong;
  std::vector<std::function<Result<>()>> registrations;
  std::shared_ptr<guard::Databases> databases = std::make_shared<guard::Databases>();
  // Before the node, whose threads may still run their rows when it ends.
  std::unique_ptr<guard::Door> guards;
  std::vector<std::shared_ptr<Guard>> guarded;
  // Before the node too: its threads run retries of messages.
  std::unique_ptr<embed::MessageDoor> messages;
  std::unique_ptr<engine::Node> node;
  // Of the degrade door: what becomes of their tasks is logged. Does not change after start().
  std::set<task::Kind> degrade_kinds;
  bool has_degrade = false;
  // After the node: what they still call may use it, stopped as it is.
  std::unique_ptr<embed::EndTeller> ends;
  std::unique_ptr<embed::Telling> telling;
  // Answers of submit_async, in their order.
  std::atomic<std::size_t> callbacks_out = 0;
  engine::Executor callbacks{
      {.core_threads = 1, .max_threads = 1, .rejection = engine::Rejection::kHandBack}};
  std::atomic<bool> started = false;

  // False: too late, and said so.
  bool may_register(std::string_view what) {
    if (!started) return true;
    log.error("registered_too_late", {{"what", std::string(what)}});
    return false;
  }

  void note(Result<> result) {
    if (!result && !wrong) wrong = std::move(result).error();
  }

  // At start(), when all backoffs are known.
  void register_later(std::string_view kind, engine::KindRules rules, engine::Handler handler,
                      engine::Probe probe) {
    registrations.emplace_back([this, kind = std::string(kind), given = std::move(rules),
                                handler = std::move(handler), probe = std::move(probe)] {
      engine::KindRules with_backoffs = given;
      with_backoffs.backoffs = backoffs;
      return node->handle(kind, std::move(with_backoffs), handler, probe);
    });
  }

  Result<embed::NewSubmission> submission_of(Submission asked) {
    const TimePoint now = clock.now();
    if (const std::string& id = asked.options.id; !id.empty()) {
      if (auto given = task::parse_new_task_id("id", id, now); !given) return fail(given.error());
    }
    return embed::submission_of(std::move(asked), ids.next(), now, *answering);
  }

  Result<std::string> control(std::string_view id, task::Move move, std::string_view by) {
    const Result<task::TaskId> parsed = task::parse_task_id("id", id);
    if (!parsed) return fail(parsed.error());
    auto answer = store.opened->store().control(
        std::vector{*parsed}, {.move = move, .payload = std::nullopt, .deadline = std::nullopt}, by,
        embed::kReadPatience);
    if (!answer) return fail(answer.error());
    const Result<task::Effect>& effect = answer->items.front().effect;
    if (!effect) return fail(effect.error());
    tell_owners();
    return *effect == task::Effect::kDone ? "done" : "requested";
  }

  void call_back(std::function<void(Result<TaskIdText>)> call, Result<TaskIdText> result) {
    callbacks.run([this, call = std::move(call), result = std::move(result)] {
      --callbacks_out;
      try {
        call(result);
      } catch (...) {
        log.error("submit_callback_threw");
      }
    });
  }

  // What becomes of the doors' own tasks.
  void log_for_doors(const engine::Happening& happening) {
    const auto* moved = std::get_if<engine::Moved>(&happening);
    if (moved == nullptr) return;
    if (degrade_kinds.contains(moved->kind)) degrade::log_moved(log, *moved);
    if (messages && messages->find(moved->kind.value) != nullptr) message::log_moved(log, *moved);
  }

  // What was asked for may concern any node.
  void tell_owners() {
    node->hint_requests();
    node->hint_work();
    if (started) node->hint_others(store::Hint::kRequest);
  }

  Result<> pause_kind(std::string_view kind, bool paused, std::string_view by) {
    auto done = store.opened->store().pause_kind(task::Kind(std::string(kind)), paused, by,
                                                 embed::kReadPatience);
    if (!done) return fail(done.error());
    tell_owners();
    return {};
  }
};

}  // namespace recourse
