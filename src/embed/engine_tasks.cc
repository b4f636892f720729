// An engine's tasks: submitting, seeing, steering.
#include <latch>
#include <map>
#include <utility>

#include "embed/engine_impl.h"

namespace recourse {
namespace {

// Of submit_async, answered and not called back yet.
constexpr std::size_t kCallbacksMax = 100'000;

}  // namespace

Result<TaskIdText> Engine::submit_bytes(std::string_view kind, std::string payload,
                                        const SubmitOptions& options) {
  auto submission = impl_->submission_of(
      {.kind = std::string(kind), .payload = std::move(payload), .options = options});
  if (!submission) return fail(submission.error());
  return embed::answer_of(
      impl_->node->submit(std::move(submission->submission), submission->novelty));
}

std::vector<Result<TaskIdText>> Engine::submit_all(std::vector<Submission> batch) {
  struct Item final : engine::SubmitWaiter {
    void answered(const engine::SubmitAnswer& answer) override {
      *result = embed::answer_of(answer);
      left->count_down();
    }
    Result<TaskIdText>* result = nullptr;
    std::latch* left = nullptr;
  };
  std::vector<Result<TaskIdText>> results(batch.size());
  std::latch left(static_cast<std::ptrdiff_t>(batch.size()));
  std::vector<Item> items(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto submission = impl_->submission_of(std::move(batch[i]));
    if (!submission) {
      results[i] = fail(submission.error());
      left.count_down();
      continue;
    }
    items[i].result = &results[i];
    items[i].left = &left;
    impl_->node->submit(std::move(submission->submission), submission->novelty, items[i]);
  }
  left.wait();
  return results;
}

void Engine::submit_async(Submission submission, std::function<void(Result<TaskIdText>)> answered) {
  class Later final : public engine::SubmitWaiter {
   public:
    Later(std::function<void(Result<TaskIdText>)> call, Impl& impl)
        : call_(std::move(call)), impl_(impl) {}
    void answered(const engine::SubmitAnswer& answer) override {
      const std::unique_ptr<Later> self(this);
      impl_.call_back(std::move(call_), embed::answer_of(answer));
    }

   private:
    std::function<void(Result<TaskIdText>)> call_;
    Impl& impl_;
  };
  if (impl_->callbacks_out >= kCallbacksMax) {
    answered(fail(ErrorCode::kExhausted,
                  "too many answers wait to be called back: let the callbacks return sooner"));
    return;
  }
  ++impl_->callbacks_out;
  auto made = impl_->submission_of(std::move(submission));
  if (!made) {
    impl_->call_back(std::move(answered), fail(made.error()));
    return;
  }
  // Gone when it has been answered, which happens exactly once.
  impl_->node->submit(std::move(made->submission), made->novelty,
                      *std::make_unique<Later>(std::move(answered), *impl_).release());
}

std::string Engine::new_id() { return task::to_string(task::TaskId(impl_->ids.next())); }

Result<TaskView> Engine::find(std::string_view id) {
  const Result<task::TaskId> parsed = task::parse_task_id("id", id);
  if (!parsed) return fail(parsed.error());
  const auto task = impl_->store.opened->reader().find(*parsed, embed::kReadPatience);
  if (!task) return fail(task.error());
  return embed::view_of(*task);
}

Result<std::vector<NoteView>> Engine::notes(std::string_view id) {
  return embed::notes_of(impl_->store.opened->reader(), id, embed::kReadPatience);
}

Result<std::string> Engine::cancel(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kCancel, by);
}
Result<std::string> Engine::pause(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kPause, by);
}
Result<std::string> Engine::resume(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kResume, by);
}
Result<std::string> Engine::retry_now(std::string_view id, std::string_view by) {
  const Result<TaskView> task = find(id);
  if (!task) return fail(task.error());
  const bool ended = task->state == "dead" || task->state == "failed";
  return impl_->control(id, ended ? task::Move::kReopen : task::Move::kRetryNow, by);
}
Result<std::string> Engine::resolve(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kResolve, by);
}
Result<std::string> Engine::ignore(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kIgnore, by);
}
Result<> Engine::pause_kind(std::string_view kind, std::string_view by) {
  return impl_->pause_kind(kind, true, by);
}
Result<> Engine::resume_kind(std::string_view kind, std::string_view by) {
  return impl_->pause_kind(kind, false, by);
}

Result<std::map<std::pair<std::string, std::string>, std::int64_t>> Engine::counts() {
  const auto counts = impl_->store.opened->reader().counts(embed::kReadPatience);
  if (!counts) return fail(counts.error());
  std::map<std::pair<std::string, std::string>, std::int64_t> named;
  for (const auto& [key, count] : *counts) {
    named[{key.first.value, std::string(task::to_string(key.second))}] = count;
  }
  return named;
}

}  // namespace recourse
