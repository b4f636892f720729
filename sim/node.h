// One machine of the simulated cluster, and the process on it: the production core, driven by one
// thread's worth of shell. It carries commands out and delivers events, and decides nothing.
//
// Thread safety: none; the world owns it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "engine/core/core.h"
#include "sim/handler.h"
#include "sim/network.h"

namespace recourse::sim {

class World;

class Node {
 public:
  Node(World& world, int index);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // --- what happens to it ---
  void start();
  // kill -9: everything it knew is gone, what it has sent is not.
  void crash();
  void stop(Duration limit);
  // SIGSTOP, and SIGCONT later.
  void pause(Duration length);
  void set_cut_off(bool cut_off);
  void jump_wall(Duration by) { wall_ahead_ += by; }
  void set_drift(int parts_per_million) { drift_ = parts_per_million; }
  // Something kept it from the store, or might have.
  void trouble();

  // --- callers inside its process ---
  // False where there is no process that could take it.
  bool submit(engine::SubmitId submit, store::Submission submission, bool again);
  void hint_requests();

  [[nodiscard]] bool is_up() const { return process_ != nullptr; }
  [[nodiscard]] bool is_running(std::uint64_t process) const;
  [[nodiscard]] bool paused() const;
  [[nodiscard]] bool stopping() const;
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] std::uint64_t process() const { return processes_; }

 private:
  struct Begun;
  struct Process;

  // Runs it in the process `number`, now or when it goes on; never where that is gone.
  void post(std::uint64_t number, std::function<void()> action);
  void deliver(std::uint64_t number, engine::Event event);
  void settle();
  void wake_when_needed();
  void resume(std::uint64_t number);
  [[nodiscard]] TimePoint local_now() const;
  [[nodiscard]] TimePoint true_time(TimePoint local) const;
  [[nodiscard]] Sender sender() const { return {.node = index_, .process = processes_}; }

  // --- commands (node_commands.cc) ---
  void carry_out(engine::Commands commands);
  void command(engine::Insert command);
  void command(engine::Claim command);
  void command(engine::Apply command);
  void command(engine::RecordStarts command);
  void command(engine::Join command);
  void command(engine::Heartbeat command);
  void command(engine::ReadNodes command);
  void command(engine::DeclareDead command);
  void command(engine::Adopt command);
  void command(engine::ReadHeld command);
  void command(engine::ReadTasks command);
  void command(engine::ReadCounts command);
  void command(engine::Run command);
  void command(engine::Recall command);
  void command(engine::StopAttempt command);
  void command(engine::SetStartLimit command);
  // Lost, all of them: what must happen happens without.
  void command(engine::HintOthers) {}
  void command(const engine::AnswerSubmits& command);
  void command(engine::Stopped command);
  void command(const engine::Happening& command);
  void command(engine::WriteNotes command);

  // --- the executor ---
  void take_from_queue();
  // One thread's work, in turn.
  void call_next(std::deque<engine::Start> in_turn, bool asynchronous);
  [[nodiscard]] bool may_begin(const engine::Start& start);
  void begin_handler(const engine::Start& start, std::deque<engine::Start> behind,
                     bool asynchronous);
  void answer_soon(engine::Event event);
  void end_handler(engine::AttemptId attempt);
  void close_run(const Begun& begun);

  // --- handlers that talk (node_notes.cc) ---
  void say(engine::AttemptId attempt, const char* text);
  void say_last(engine::AttemptId attempt, const task::Task& task);

  World& world_;
  const int index_;
  std::uint64_t processes_ = 0;
  Duration wall_ahead_{};
  int drift_ = 0;
  bool cut_off_ = false;
  std::unique_ptr<Process> process_;
};

}  // namespace recourse::sim
