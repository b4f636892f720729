// What owners and people write: outcomes, starts, renewals and orders.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "store/contract/contract.h"
#include "task/transition.h"
#include "tests/differential/operations.h"

namespace recourse::tests::differential {

using namespace std::chrono_literals;
using namespace store;
using store::contract::kWithin;
using task::LeaseId;
using task::Move;
using task::State;
using task::Task;
using task::TaskId;

namespace {

enum class Ticket : std::uint8_t { kRight, kOlder, kNewer, kStranger };

struct Choice {
  TaskId task;
  Move move = Move::kRetry;
  Ticket ticket = Ticket::kRight;
  LeaseId stranger;
  // Tells the due times of one batch apart.
  std::int64_t order = 0;
  bool is_delayed = false;
  bool has_error = false;
  int attempt = 0;
};

task::Ticket shown(const Choice& choice, task::Ticket ticket) {
  if (choice.ticket == Ticket::kOlder) --ticket.fence.value;
  if (choice.ticket == Ticket::kNewer) ++ticket.fence.value;
  if (choice.ticket == Ticket::kStranger) ticket.lease = choice.stranger;
  return ticket;
}

Outcome outcome_on(const Side& side, const Choice& choice) {
  const Task& task = side.seen().at(choice.task);
  Outcome outcome{.transition = task::plan(task, choice.move, side.now()), .attempt = std::nullopt};
  if (choice.move == Move::kLend) {
    outcome.transition.lending = {.worker = task::WorkerName("called"),
                                  .lease_for = choice.is_delayed ? Duration(1h) : Duration(1us)};
  }
  task::Transition& change = outcome.transition;
  change.ticket = shown(choice, change.ticket);
  if (choice.has_error) change.error = task::Reason{"TIMEOUT", std::string("bad \xFF\0 byte", 11)};
  if (choice.move == Move::kRetry || choice.move == Move::kRetryHere) {
    change.due_at = choice.is_delayed ? side.now() + 1h : side.now() - 1s + Duration(choice.order);
    change.retries += 1;
  }
  if (choice.attempt == 0 || choice.move == Move::kLend) return outcome;
  change.attempts += 1;
  if (!change.first_started_at) change.first_started_at = side.now();
  outcome.attempt = Attempt{.task = task.id,
                            .number = choice.attempt,
                            .started_at = side.now(),
                            .ended_at = side.now(),
                            .owner = task.owner ? task::to_string(*task.owner) : "",
                            .fence = change.ticket.fence,
                            .decision = choice.move,
                            .error = change.error,
                            .next_due = change.due_at};
  return outcome;
}

std::string apply_on(Side& side) {
  const auto answers = side.store().apply(side.last_outcomes, kWithin);
  if (!answers) return words(answers.error());
  std::string told;
  for (const Applied& applied : *answers) {
    told += fmt::format("{} {}; ", static_cast<int>(applied.verdict),
                        applied.state ? to_string(*applied.state) : "-");
  }
  return told;
}

std::vector<Move> moves_from(State state) {
  std::vector<Move> moves;
  for (const task::Edge& edge : task::kEdges) {
    const bool is_owners = edge.move != Move::kClaim && edge.move != Move::kTakeOver;
    // Adoption is the store's own.
    if (edge.from == state && is_owners && edge.move != Move::kAdopt) moves.push_back(edge.move);
  }
  return moves;
}

std::vector<TaskId> seen_ids(const Side& model) {
  std::vector<TaskId> ids;
  for (const auto& [id, task] : model.seen()) ids.push_back(id);
  return ids;
}

std::string answer_words(const ControlAnswer& answer) {
  std::string told = answer.next ? "until " + to_string(*answer.next) + ": " : "";
  for (const ControlItem& item : answer.items) {
    told += to_string(item.task) + ' ';
    told += item.effect ? fmt::format("{}", static_cast<int>(*item.effect))
                        : words(item.effect.error());
    told += "; ";
  }
  return told;
}

std::string yes_or_no(const std::vector<bool>& answers) {
  std::string told;
  for (const bool answer : answers) told += answer ? "yes " : "no ";
  return told;
}

}  // namespace

Operation Operations::apply(const Side& model) {
  const std::vector<TaskId> known = seen_ids(model);
  std::vector<Choice> choices;
  const std::size_t count = 1 + below(5);
  for (std::size_t i = 0; i < count; ++i) {
    // What was seen last is most likely to be held still.
    const std::size_t recent = std::min<std::size_t>(known.size(), 15);
    Choice choice;
    choice.task = chance(80) ? known[known.size() - 1 - below(recent)] : any_of(known);
    const std::vector<Move> moves = moves_from(model.seen().at(choice.task).state);
    const bool is_twice = std::ranges::any_of(
        choices, [&](const Choice& other) { return other.task == choice.task; });
    if (moves.empty() || is_twice) continue;
    choice.move = any_of(moves);
    if (chance(15)) choice.ticket = static_cast<Ticket>(1 + below(3));
    choice.stranger = LeaseId(name());
    choice.order = static_cast<std::int64_t>(1'000 * i + below(1'000));
    choice.is_delayed = chance(30);
    choice.has_error = chance(50);
    if (chance(50)) choice.attempt = static_cast<int>(1 + below(kAttemptsKept + 20));
    choices.push_back(choice);
  }
  if (choices.empty()) return look();
  return {fmt::format("apply {}", choices.size()), [choices](Side& side) {
            side.last_outcomes.clear();
            for (const Choice& choice : choices) {
              side.last_outcomes.push_back(outcome_on(side, choice));
            }
            return apply_on(side);
          }};
}

Operation Operations::repeat_apply() {
  return {"apply the same again", [](Side& side) {
            return side.last_outcomes.empty() ? std::string("nothing yet") : apply_on(side);
          }};
}

Operation Operations::start_or_renew(const Side& model) {
  const std::vector<TaskId> known = seen_ids(model);
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < std::min<std::size_t>(known.size(), 4); ++i) {
    Choice choice;
    choice.task = known[known.size() - 1 - i];
    if (chance(15)) choice.ticket = static_cast<Ticket>(1 + below(3));
    choice.stranger = LeaseId(name());
    choices.push_back(choice);
  }
  const bool is_start = chance(60);
  const Duration lease_for = chance(50) ? Duration(1us) : Duration(1h);
  return {is_start ? "record starts" : "renew", [=](Side& side) {
            std::vector<Held> held;
            for (const Choice& choice : choices) {
              const Task& task = side.seen().at(choice.task);
              held.push_back({.task = task.id, .ticket = shown(choice, task.ticket)});
            }
            std::string told;
            if (is_start) {
              const auto done = side.store().record_starts(held, kWithin);
              if (!done) return words(done.error());
              told = yes_or_no(*done);
            } else {
              const auto ends = side.store().renew(held, lease_for, kWithin);
              if (!ends) return words(ends.error());
              for (const auto& end : *ends) told += side.words(end) + ' ';
            }
            return told;
          }};
}

Operation Operations::note(const Side& model) {
  const std::vector<TaskId> known = seen_ids(model);
  struct Said {
    Choice choice;
    // Now and then the same again.
    int number = 0;
    std::optional<int> progress;
    std::string text;
  };
  std::vector<Said> said;
  // Now and then more than are kept.
  const std::size_t count = chance(10) ? 150 : 1 + below(5);
  for (std::size_t i = 0; i < count; ++i) {
    Said one;
    one.choice.task = known[known.size() - 1 - below(std::min<std::size_t>(known.size(), 3))];
    if (chance(15)) one.choice.ticket = static_cast<Ticket>(1 + below(3));
    one.choice.stranger = LeaseId(name());
    one.number = static_cast<int>(below(400));
    if (chance(50)) one.progress = static_cast<int>(below(kProgressMax + 1));
    one.text = fmt::format("note {} \xFF", i);
    said.push_back(one);
  }
  return {"note", [=](Side& side) {
            std::vector<Jotting> batch;
            for (const Said& one : said) {
              const Task& task = side.seen().at(one.choice.task);
              const task::Ticket ticket = shown(one.choice, task.ticket);
              batch.push_back({.ticket = ticket,
                               .note = {.task = task.id,
                                        .fence = ticket.fence,
                                        .number = one.number,
                                        .attempt = 1,
                                        .at = side.now(),
                                        .progress = one.progress,
                                        .text = one.text}});
            }
            const auto done = side.store().note(batch, kWithin);
            if (!done) return words(done.error());
            return yes_or_no(*done);
          }};
}

task::Order Operations::any_order() {
  static const std::vector<Move> moves{Move::kPause,   Move::kResume, Move::kCancel,
                                       Move::kResolve, Move::kIgnore, Move::kRetryNow,
                                       Move::kReopen};
  task::Order order;
  if (chance(85)) order.move = any_of(moves);
  if (!order.move || chance(10)) order.payload = std::string("new\0payload", 11);
  return order;
}

Operation Operations::order() {
  const Items items = some_ids(5);
  const task::Order order = any_order();
  return {fmt::format("order {}", order.move ? to_string(*order.move) : "edit"),
          [items, order](Side& side) {
            const auto answer = side.store().control(items, order, "alice", kWithin);
            return answer ? answer_words(*answer) : words(answer.error());
          }};
}

Filter Operations::any_filter() {
  Filter filter;
  if (chance(40)) filter.kinds = {any_kind()};
  if (chance(20)) filter.tenant = task::Tenant("acme");
  if (chance(20)) filter.search_key = {"order", fmt::format("{}", below(3))};
  if (chance(10)) filter.unique_key = task::UniqueKey("key 1");
  if (chance(50)) filter.states = {any_of(std::vector{State::kDead, State::kPending})};
  if (chance(30)) filter.states.push_back(State::kPaused);
  return filter;
}

Operation Operations::order_by_filter() {
  ByFilter which;
  which.filter = any_filter();
  which.limit = chance(50) ? kBatchRowsMax : 1 + below(4);
  const bool is_early = chance(20);
  const task::Order order = any_order();
  return {fmt::format("order {} by filter", order.move ? to_string(*order.move) : "edit"),
          [which, order, is_early](Side& side) {
            ByFilter mine = which;
            mine.as_of = is_early ? side.now() - 1h : side.now() + 1h;
            const auto answer = side.store().control(mine, order, "alice", kWithin);
            if (!answer) return words(answer.error());
            return answer_words(*answer) + "\n" + side.words(side.list(which.filter));
          }};
}

// Takes what is due, and tells all of it, or half of it, or none.
Operation Operations::tell() {
  const std::size_t every = below(3);
  return {"tell", [every](Side& side) {
            const auto due = side.cases().take_due(kPageRowsMax, 24h, kWithin);
            if (!due) return words(due.error());
            std::vector<DueCase> items = due->items;
            std::ranges::sort(items, {}, [](const DueCase& one) { return one.task.id; });
            std::string told;
            std::vector<PutOff> batch;
            for (std::size_t i = 0; i < items.size(); ++i) {
              told += side.words(items[i].held) + ' ' + side.words(items[i].task) + '\n';
              if (every == 0 || i % every != 0) continue;
              batch.push_back({.held = items[i].held, .wait = 3h, .told = i % 4 != 0});
            }
            if (batch.empty()) return told;
            const auto ends = side.cases().put_off(batch, kWithin);
            if (!ends) return words(ends.error());
            for (const auto& end : *ends) told += side.words(end) + ' ';
            return told;
          }};
}

Operation Operations::assign() {
  const Items items = some_ids(5);
  const std::string assignee = chance(30) ? "" : chance(50) ? "alice" : "Alice ";
  const bool is_due = !assignee.empty() && chance(50);
  return {"assign to '" + assignee + "'", [=](Side& side) {
            Assignment assignment{.assignee = assignee, .due = std::nullopt, .note = "by chance"};
            if (is_due) assignment.due = side.now() + 5h;
            const auto answer = side.cases().assign(items, assignment, "bob", kWithin);
            if (!answer) return words(answer.error());
            std::string told;
            for (const CaseItem& item : *answer) {
              told += item.now ? side.words(*item.now) : words(item.now.error());
              told += '\n';
            }
            // Whoever touched one says why.
            const auto noted = side.cases().note(items.front(), "by chance too", "carol", kWithin);
            return told + (noted ? side.words(*noted) : words(noted.error()));
          }};
}

}  // namespace recourse::tests::differential
