// What the shell does with each command.
#include <utility>

#include "sim/node.h"
#include "sim/node_process.h"
#include "sim/world.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

// After a clean stop what was in flight has had its time.
constexpr Duration kAfterLeaving = 3s;

}  // namespace

void Node::carry_out(engine::Commands commands) {
  for (engine::Command& one : commands) {
    std::visit([&](auto& what) { command(std::move(what)); }, one);
  }
}

void Node::command(engine::Insert insert) {
  const std::uint64_t number = process_->number;
  auto batch = std::make_shared<std::vector<store::Submission>>(std::move(insert.batch));
  world_.network.ask<store::InsertAnswer>(
      sender(), {.verb = Verb::kInsert, .outcomes = {}, .ordered = {}, .wait = {}}, insert.within,
      [this, batch, novelty = insert.novelty, within = insert.within](store::Store& store) {
        auto answer = store.insert(*batch, novelty, within);
        if (answer) world_.insert_made(*batch, *answer);
        return answer;
      },
      [this, number, batch, call = insert.call](Result<store::InsertAnswer> answer) {
        // A copy: the call may be carried out after its caller was told that it is in doubt.
        deliver(number, engine::InsertEnded{call, *batch, std::move(answer)});
      });
}

void Node::command(engine::Claim claim) {
  const std::uint64_t number = process_->number;
  world_.network.ask<store::Claimed>(
      sender(), {.verb = Verb::kClaim, .outcomes = {}, .ordered = {}, .wait = {}}, claim.within,
      [request = std::move(claim.request), within = claim.within](store::Store& store) {
        return store.claim(request, within);
      },
      [this, number, call = claim.call](Result<store::Claimed> answer) {
        deliver(number, engine::ClaimEnded{call, std::move(answer)});
      });
}

void Node::command(engine::Apply apply) {
  const std::uint64_t number = process_->number;
  for (const store::Outcome& outcome : apply.batch) {
    world_.outcome_sent(index_, number, outcome.transition);
  }
  auto batch = std::make_shared<std::vector<store::Outcome>>(std::move(apply.batch));
  world_.network.ask<std::vector<store::Applied>>(
      sender(), {.verb = Verb::kApply, .outcomes = *batch, .ordered = {}, .wait = {}}, apply.within,
      [this, batch, within = apply.within](store::Store& store) {
        auto answer = store.apply(*batch, within);
        if (answer) world_.count_verdicts(*answer);
        return answer;
      },
      [this, number, batch, call = apply.call](Result<std::vector<store::Applied>> answer) {
        deliver(number, engine::ApplyEnded{call, *batch, std::move(answer)});
      });
}

void Node::command(engine::RecordStarts starts) {
  const std::uint64_t number = process_->number;
  auto batch = std::make_shared<std::vector<store::Held>>(std::move(starts.batch));
  world_.network.ask<std::vector<bool>>(
      sender(), {.verb = Verb::kStarts, .outcomes = {}, .ordered = {}, .wait = {}}, starts.within,
      [batch, within = starts.within](store::Store& store) {
        return store.record_starts(*batch, within);
      },
      [this, number, batch, call = starts.call](Result<std::vector<bool>> answer) {
        deliver(number, engine::StartsEnded{call, *batch, std::move(answer)});
      });
}

void Node::command(engine::Join join) {
  const std::uint64_t number = process_->number;
  const task::Incarnation incarnation = join.node.incarnation;
  // One that never joined, or was declared dead, is not heard of again.
  if (const auto former = world_.ledger.processes.find(process_->incarnation);
      former != world_.ledger.processes.end()) {
    former->second.gone = true;
  }
  process_->incarnation = incarnation;
  world_.ledger.processes[incarnation] = {.node = index_,
                                          .born = world_.schedule.now(),
                                          .troubled_at = world_.schedule.now(),
                                          .unhealthy_at = world_.schedule.now()};
  world_.network.ask<store::Joined>(
      sender(), {.verb = Verb::kJoin, .outcomes = {}, .ordered = {}, .wait = {}}, join.within,
      [this, node = std::move(join.node), within = join.within](store::Store& store) {
        auto answer = store.join(node, within);
        world_.node_changed();
        return answer;
      },
      [this, number, incarnation, call = join.call](Result<store::Joined> answer) {
        world_.ledger.processes[incarnation].unhealthy_at = world_.schedule.now();
        deliver(number, engine::JoinEnded{call, std::move(answer)});
      });
}

void Node::command(engine::Heartbeat beat) {
  const std::uint64_t number = process_->number;
  world_.network.ask<store::Pulse>(
      sender(), {.verb = Verb::kHeartbeat, .outcomes = {}, .ordered = {}, .wait = {}}, beat.within,
      [this, beat](store::Store& store) {
        auto answer = store.heartbeat(beat.node, beat.pauses_seen, beat.within);
        world_.node_changed();
        return answer;
      },
      [this, number, beat](Result<store::Pulse> answer) {
        if (!answer) world_.ledger.processes[beat.node].unhealthy_at = world_.schedule.now();
        deliver(number, engine::HeartbeatEnded{beat.call, std::move(answer)});
      });
}

void Node::command(engine::ReadNodes read) {
  world_.network.read<std::vector<store::NodeRow>>(
      sender(), read.within, [this] { return world_.store.nodes(); },
      [this, number = process_->number](Result<std::vector<store::NodeRow>> answer) {
        deliver(number, engine::NodesRead{std::move(answer)});
      });
}

void Node::command(engine::DeclareDead declare) {
  const std::uint64_t number = process_->number;
  const task::Incarnation by = process_->incarnation;
  const TimePoint unhealthy_at = world_.ledger.processes[by].unhealthy_at;
  const bool healthy = world_.schedule.now() - unhealthy_at >= kTtl - kTtl / 50;
  world_.network.ask<bool>(
      sender(), {.verb = Verb::kDeclare, .outcomes = {}, .ordered = {}, .wait = {}}, declare.within,
      [this, declare, by, healthy](store::Store& store) {
        return world_.declare(store, declare, by, healthy);
      },
      [this, number, node = declare.node](Result<bool> answer) {
        deliver(number, engine::DeclareEnded{node, std::move(answer)});
      });
}

void Node::command(engine::Adopt adopt) {
  const std::uint64_t number = process_->number;
  world_.network.ask<store::Adopted>(
      sender(), {.verb = Verb::kAdopt, .outcomes = {}, .ordered = {}, .wait = {}}, adopt.within,
      [name = node_settings(index_).name, within = adopt.within](store::Store& store) {
        return store.adopt(name, within);
      },
      [this, number](Result<store::Adopted> answer) {
        deliver(number, engine::AdoptEnded{std::move(answer)});
      });
}

void Node::command(engine::ReadHeld read) {
  world_.network.read<std::vector<store::Held>>(
      sender(), read.within, [this, node = read.node] { return world_.store.held_by(node); },
      [this, number = process_->number, node = read.node](Result<std::vector<store::Held>> answer) {
        deliver(number, engine::HeldRead{node, std::move(answer)});
      });
}

void Node::command(engine::ReadTasks read) {
  world_.network.read<std::vector<task::Task>>(
      sender(), read.within, [this, ids = std::move(read.ids)] { return world_.store.tasks(ids); },
      [this, number = process_->number](Result<std::vector<task::Task>> answer) {
        deliver(number, engine::TasksRead{std::move(answer)});
      });
}

void Node::command(engine::ReadCounts read) {
  world_.network.read<store::Counts>(
      sender(), read.within, [this] { return world_.store.counts(); },
      [this, number = process_->number](Result<store::Counts> answer) {
        deliver(number, engine::CountsRead{std::move(answer)});
      });
}

void Node::command(engine::Run run) {
  const bool asynchronous = run.in_turn.front().task->spec.kind.value == "sync";
  const std::uint64_t number = process_->number;
  std::deque<engine::Start> in_turn(std::make_move_iterator(run.in_turn.begin()),
                                    std::make_move_iterator(run.in_turn.end()));
  for (const engine::Start& start : in_turn) process_->handed.insert(start.attempt);
  if (asynchronous) {
    world_.schedule.after(20us, [this, number, in_turn = std::move(in_turn)] {
      post(number, [this, in_turn] { call_next(in_turn, true); });
    });
    return;
  }
  process_->queue.push_back(std::move(in_turn));
  world_.schedule.after(world_.rng.between(Duration(5us), Duration(1ms)),
                        [this, number] { post(number, [this] { take_from_queue(); }); });
}

void Node::command(engine::Recall recall) {
  if (process_->handed.erase(recall.attempt) > 0) {
    answer_soon(engine::AttemptEnded{recall.attempt, engine::NotStarted{}});
  } else if (const auto found = process_->begun.find(recall.attempt);
             found != process_->begun.end()) {
    answer_soon(engine::AttemptBegun{.attempt = recall.attempt, .at = found->second.at});
  }
}

void Node::command(engine::StopAttempt stop) {
  const auto found = process_->begun.find(stop.attempt);
  if (found == process_->begun.end()) {
    process_->told_to_stop.insert(stop.attempt);
    return;
  }
  Begun& begun = found->second;
  if (stop.reason == engine::StopReason::kTimeout) {
    for (HandlerRun& run : world_.ledger.handlers[begun.task->id]) {
      if (run.ticket == begun.task->ticket) run.timed_out = true;
    }
  }
  if (!begun.script.obeys && !begun.script.lies) return;
  begun.told = true;
  const std::uint64_t number = process_->number;
  world_.schedule.after(world_.rng.between(Duration(1ms), Duration(200ms)),
                        [this, number, attempt = stop.attempt] {
                          post(number, [this, attempt] { end_handler(attempt); });
                        });
}

void Node::command(engine::SetStartLimit limit) { process_->start_limit = limit.limit; }

void Node::command(const engine::AnswerSubmits& answers) {
  for (const engine::SubmitAnswer& answer : answers.answers) {
    world_.submit_answered(index_, answer);
  }
}

void Node::command(engine::Stopped) {
  const std::uint64_t number = process_->number;
  const task::Incarnation left = process_->incarnation;
  const TimePoint now = world_.schedule.now();
  world_.trace.add(now, "stopped", index_);
  process_->stopped = true;
  const ProcessFacts& facts = world_.ledger.processes[left];
  const bool calm = facts.troubled_at + kTtl < process_->stop_asked_at;
  // The process waits for its last calls.
  world_.schedule.after(2s, [this, number] {
    if (is_running(number)) crash();
  });
  if (calm) world_.schedule.after(kAfterLeaving, [this, left] { world_.node_left(left); });
  world_.restart_later(index_);
}

void Node::command(const engine::Happening&) {}

}  // namespace recourse::sim
