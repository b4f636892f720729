#include "tests/differential/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "store/contract/contract.h"

namespace recourse::tests::differential {

using namespace std::chrono_literals;
using namespace store;
using store::contract::kWithin;
using task::Incarnation;
using task::Kind;
using task::LeaseId;
using task::Owner;
using task::State;
using task::TaskId;

namespace {

const std::vector<std::string> kKinds{"mail", "Mail", "mail "};

}  // namespace

Ulid Operations::name() { return names_.next(TimePoint(1'700'000'000s)); }

Kind Operations::any_kind() { return Kind(any_of(kKinds)); }

Owner Operations::any_owner() {
  if (!nodes_.empty() && chance(60)) return any_of(nodes_);
  return task::WorkerName(chance(50) ? "w1" : "w2");
}

Operations::Items Operations::some_ids(std::size_t most) {
  Items items;
  const std::size_t count = 1 + below(most);
  while (items.size() < count) {
    const TaskId id = ids_.empty() || chance(3) ? TaskId(name()) : any_of(ids_);
    if (std::ranges::count(items, id) == 0) items.push_back(id);
    if (items.size() >= ids_.size()) break;
  }
  return items;
}

Operation Operations::next(std::span<Side> sides) {
  Side& model = sides.front();
  if (nodes_.empty()) return join();
  const std::uint64_t dice = rng_.between(1, 100);
  if (dice <= 20) return insert();
  if (dice <= 24) return deal();
  if (dice <= 25) return look_through_inbox();
  if (dice <= 29) return repeat_insert();
  if (dice <= 47) return claim(sides);
  if (dice <= 67) return model.seen().empty() ? insert() : apply(model);
  if (dice <= 70) return repeat_apply();
  if (dice <= 73) return model.seen().empty() ? insert() : start_or_renew(model);
  if (dice <= 76) return model.seen().empty() ? insert() : note(model);
  if (dice <= 78) return look();
  if (dice <= 79) return tell();
  if (dice <= 80) return assign();
  if (dice <= 82) return join();
  if (dice <= 84) return beat();
  if (dice <= 86) return bury(model);
  if (dice <= 88) return adopt();
  if (dice <= 94) return order();
  if (dice <= 96) return order_by_filter();
  if (dice <= 97) return pause_kind();
  return purge();
}

Submission Operations::fresh() {
  Submission item;
  item.id = TaskId(name());
  ids_.push_back(item.id);
  task::TaskSpec& spec = item.spec;
  spec.kind = any_kind();
  spec.tenant = task::Tenant(chance(70) ? "acme" : "other");
  spec.shard_key = task::ShardKey(chance(50) ? "" : fmt::format("shard {}", below(5)));
  if (chance(20)) spec.unique_key = task::UniqueKey(fmt::format("key {}", below(4)));
  spec.priority = static_cast<int>(chance(60) ? 5 : below(task::kPriorityMax + 1));
  spec.payload = chance(50) ? "{}" : std::string("\0\xFF raw", 6);
  if (chance(30)) spec.headers = {{"a", "ä"}, {"b", ""}};
  if (chance(40)) spec.search_keys = {{"order", fmt::format("{}", below(3))}};
  if (chance(15)) {
    item.delay = 1h;
  } else if (!nodes_.empty() && chance(25)) {
    item.claim = BirthClaim{.owner = any_of(nodes_), .lease = LeaseId(name())};
  }
  submitted_.push_back(item);
  return item;
}

namespace {

Operation insert_of(std::vector<Submission> batch, Novelty novelty) {
  std::string text =
      fmt::format("insert {} {}", batch.size(), novelty == Novelty::kFresh ? "fresh" : "again");
  return {std::move(text), [batch = std::move(batch), novelty](Side& side) {
            const auto answer = side.store().insert(batch, novelty, kWithin);
            if (!answer) return words(answer.error());
            side.told(answer->now);
            std::string told;
            for (const Inserted& item : answer->items) {
              told += fmt::format("{} {} {}; ", static_cast<int>(item.result), to_string(item.task),
                                  item.still_mine);
            }
            return told;
          }};
}

}  // namespace

Operation Operations::insert() {
  std::vector<Submission> batch;
  const std::size_t count = is_one_by_one_ ? 1 : 1 + below(8);
  while (batch.size() < count) batch.push_back(fresh());
  const bool is_clumsy = batch.size() > 1 && chance(3);
  if (is_clumsy) batch.push_back(batch.front());  // refused as a whole
  return insert_of(std::move(batch), chance(70) ? Novelty::kFresh : Novelty::kRepeat);
}

Operation Operations::repeat_insert() {
  if (submitted_.empty()) return insert();
  std::vector<Submission> batch;
  for (std::size_t i = 0; i < 4; ++i) {
    const Submission& item = chance(80) ? any_of(submitted_) : fresh();
    const bool is_there =
        std::ranges::any_of(batch, [&](const Submission& other) { return other.id == item.id; });
    if (!is_there) batch.push_back(item);
  }
  return insert_of(std::move(batch), Novelty::kRepeat);
}

Operation Operations::claim(std::span<Side> sides) {
  ClaimRequest request;
  request.owner = any_owner();
  request.lease = LeaseId(name());
  if (std::holds_alternative<task::WorkerName>(request.owner)) {
    request.lease_for = chance(60) ? Duration(1us) : Duration(1h);
  }
  const Kind kind = any_kind();
  std::vector<std::optional<Items>> orders;
  for (Side& side : sides) orders.push_back(side.due_in_order(kind));
  const bool is_clear = std::ranges::all_of(
      orders, [&](const auto& order) { return order && order == orders.front(); });
  const int limit = is_clear && chance(80) ? 1 + static_cast<int>(below(6)) : 400;
  if (limit < 400) ++partial_claims_;
  request.quotas = {{.kind = kind, .limit = limit, .tenant_max = 0}};
  if (chance(30)) request.quotas[0].tenant_max = 1;
  request.limit = limit == 400 || chance(50) ? 500 : std::max(1, limit - 1);
  if (chance(15)) request.shards = {.first = 0, .last = kShards / 2};
  if (limit == 400 && chance(30)) {
    for (const std::string& other : kKinds) {
      if (other != kind.value) request.quotas.push_back({.kind = Kind(other), .limit = 400});
    }
  }
  return {fmt::format("claim {} of '{}' for {}", limit, kind.value, task::to_string(request.owner)),
          [request](Side& side) {
            const auto claimed = side.store().claim(request, kWithin);
            if (!claimed) return words(claimed.error());
            side.told(claimed->now);
            for (const task::Task& task : claimed->tasks) side.saw(task);
            return side.words(claimed->tasks);
          }};
}

Operation Operations::look() {
  const Items items = some_ids(5);
  return {"look", [items](Side& side) {
            std::string told;
            for (const TaskId& id : items) {
              const auto found = side.reader().find(id, kWithin);
              if (found) side.saw(*found);
              told += (found ? side.words(*found) : words(found.error())) + "\n";
            }
            return told;
          }};
}

Operation Operations::join() {
  const NodeInfo node{.incarnation = Incarnation(name()),
                      .name = fmt::format("node {}", nodes_.size()),
                      .kinds = {Kind("mail")}};
  nodes_.push_back(node.incarnation);
  return {"join", [node](Side& side) {
            const auto joined = side.store().join(node, kWithin);
            if (!joined) return words(joined.error());
            side.told(joined->now);
            return fmt::format("pauses {}", joined->pauses.version);
          }};
}

Operation Operations::beat() {
  const Incarnation node = any_of(nodes_);
  return {"heartbeat", [node](Side& side) {
            auto pulse = side.store().heartbeat(node, 1, kWithin);
            if (!pulse) return words(pulse.error());
            side.told(pulse->now);
            std::ranges::sort(pulse->requests, {}, &ControlRequest::task);
            std::string told = fmt::format("pauses {}", pulse->pauses.version);
            for (const ControlRequest& request : pulse->requests) {
              told += fmt::format(", {} {}", to_string(request.task), to_string(request.move));
            }
            return told;
          }};
}

Operation Operations::bury(Side& model) {
  const Incarnation node = any_of(nodes_);
  std::int64_t beat = 0;
  for (const NodeRow& row : store::contract::must(model.reader().nodes(kWithin))) {
    if (row.info.incarnation == node) beat = row.beat;
  }
  if (chance(30)) ++beat;
  return {"declare dead", [node, beat](Side& side) {
            const auto dead = side.store().declare_dead(node, beat, "someone", kWithin);
            return dead ? fmt::format("{}", *dead) : words(dead.error());
          }};
}

Operation Operations::adopt() {
  return {"adopt", [](Side& side) {
            const auto adopted = side.store().adopt("someone", kWithin);
            return adopted ? fmt::format("{} {}", adopted->tasks, adopted->more)
                           : words(adopted.error());
          }};
}

Operation Operations::pause_kind() {
  const Kind kind = any_kind();
  const bool paused = chance(60);
  return {"pause kind", [kind, paused](Side& side) {
            const auto version = side.store().pause_kind(kind, paused, "alice", kWithin);
            return version ? fmt::format("{}", *version) : words(version.error());
          }};
}

Operation Operations::purge() {
  PurgeRequest request;
  request.by = "alice";
  if (chance(60)) request.states = {chance(50) ? State::kSucceeded : State::kDead};
  if (chance(30)) request.states.push_back(State::kCancelled);
  if (chance(30)) request.kind = any_kind();
  const bool is_late = chance(80);
  return {"purge", [request, is_late](Side& side) {
            PurgeRequest mine = request;
            if (!mine.states.empty()) {
              mine.ended_before = is_late ? side.now() + 1h : side.now() - 1h;
            }
            const auto purged = side.store().purge(mine, kWithin);
            return purged ? fmt::format("{}", *purged) : words(purged.error());
          }};
}

}  // namespace recourse::tests::differential
