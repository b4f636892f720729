// Handlers that talk: every third attempt says something half way and at its end.
#include <fmt/format.h>

#include <utility>

#include "sim/node.h"
#include "sim/node_process.h"
#include "sim/world.h"

namespace recourse::sim {
namespace {

constexpr std::uint64_t kTalksEvery = 3;

class OneNote final : public engine::NotePad {
 public:
  explicit OneNote(engine::Said said) : said_(std::move(said)) {}
  std::vector<engine::Said> take() override { return {said_}; }

 private:
  engine::Said said_;
};

}  // namespace

void Node::say(engine::AttemptId attempt, const char* text) {
  if (attempt.value % kTalksEvery != 0) return;
  deliver(process_->number, engine::AttemptNoted{attempt, std::make_shared<OneNote>(engine::Said{
                                                              .progress = 500'000, .text = text})});
}

void Node::say_last(engine::AttemptId attempt, const task::Task& task) {
  if (attempt.value % kTalksEvery != 0) return;
  world_.ledger.last_words.insert({task.id, task.ticket});
  say(attempt, kLastWords);
}

void Node::command(engine::WriteNotes notes) {
  const std::uint64_t number = process_->number;
  auto batch = std::make_shared<std::vector<store::Jotting>>(std::move(notes.batch));
  world_.network.ask<std::vector<bool>>(
      sender(), {.verb = Verb::kNote, .outcomes = {}, .ordered = {}, .wait = {}}, notes.within,
      [this, batch, within = notes.within](store::Store& store) {
        auto answer = store.note(*batch, within);
        if (answer) world_.notes_made(*batch, *answer);
        return answer;
      },
      [this, number, call = notes.call](Result<std::vector<bool>> answer) {
        deliver(number, engine::NotesEnded{call, std::move(answer)});
      });
}

}  // namespace recourse::sim
