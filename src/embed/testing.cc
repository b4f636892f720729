#include "recourse/testing.h"

#include <optional>
#include <utility>

#include "base/manual_clock.h"
#include "embed/convert.h"
#include "embed/end_teller.h"
#include "engine/inline_node.h"
#include "store/memory/memory_store.h"

namespace recourse::testing {
namespace {

constexpr Duration kPatience = std::chrono::seconds(1);
// 2026-01-01: a test that prints it shows a date people know.
constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
constexpr std::uint64_t kSeed = 2;

}  // namespace

struct TestEngine::Impl {
  ManualClock clock{kStart};
  UlidSequence ids{kSeed};
  std::unique_ptr<store::OpenedStore> opened =
      store::memory::open(store::memory::make_data(), clock);
  std::shared_ptr<policy::BackoffRegistry> backoffs = std::make_shared<policy::BackoffRegistry>();
  std::shared_ptr<const embed::Answering> answering =
      std::make_shared<embed::Answering>(backoffs, [this] { return clock.now(); });
  std::vector<Middleware> middleware;
  engine::InlineNode node{*opened, clock, {}};
  std::optional<Error> wrong;
  bool started = false;

  Result<> start() {
    if (wrong) return fail(*wrong);
    if (std::exchange(started, true)) return {};
    return node.start();
  }
};

TestEngine::TestEngine() : impl_(std::make_unique<Impl>()) {}
TestEngine::~TestEngine() = default;
TestEngine::TestEngine(TestEngine&&) noexcept = default;
TestEngine& TestEngine::operator=(TestEngine&&) noexcept = default;

TestEngine& TestEngine::handle_bytes(std::string_view kind, Handler handler,
                                     const KindOptions& options, Probe probe) {
  engine::KindRules rules;
  rules.settings = embed::kind_settings(options);
  Result<> added = impl_->node.handle(
      kind, std::move(rules), embed::wrap(std::move(handler), impl_->middleware, impl_->answering),
      embed::wrap(std::move(probe), impl_->answering));
  if (!added && !impl_->wrong) impl_->wrong = std::move(added).error();
  return *this;
}

TestEngine& TestEngine::refuse(const Error& error) {
  if (!impl_->wrong) impl_->wrong = error;
  return *this;
}

TestEngine& TestEngine::schedule(Schedule schedule) {
  auto made = embed::schedule_of(std::move(schedule), *impl_->backoffs);
  Result<> added = made ? impl_->node.schedule(*std::move(made)) : fail(made.error());
  if (!added && !impl_->wrong) impl_->wrong = std::move(added).error();
  return *this;
}

TestEngine& TestEngine::on_end(std::function<void(const Ended&)> call) {
  impl_->node.listen([call = std::move(call)](const engine::Happening& happening) {
    if (const auto ended = embed::ended_of(happening)) embed::tell_safely(call, *ended);
  });
  return *this;
}

Result<TaskIdText> TestEngine::submit_bytes(std::string_view kind, std::string payload,
                                            const SubmitOptions& options) {
  if (Result<> started = impl_->start(); !started) return fail(started.error());
  const TimePoint now = impl_->clock.now();
  auto submission = embed::submission_of(
      {.kind = std::string(kind), .payload = std::move(payload), .options = options},
      impl_->ids.next(now), now, *impl_->answering);
  if (!submission) return fail(submission.error());
  return embed::answer_of(
      impl_->node.submit(std::move(submission->submission), submission->novelty));
}

int TestEngine::run_due() { return impl_->start() ? impl_->node.run_due() : 0; }

int TestEngine::advance(Duration by) { return impl_->start() ? impl_->node.advance(by) : 0; }

Result<TaskView> TestEngine::find(std::string_view id) {
  const Result<task::TaskId> parsed = task::parse_task_id("id", id);
  if (!parsed) return fail(parsed.error());
  const auto task = impl_->opened->reader().find(*parsed, kPatience);
  if (!task) return fail(task.error());
  return embed::view_of(*task);
}

Result<std::vector<NoteView>> TestEngine::notes(std::string_view id) {
  return embed::notes_of(impl_->opened->reader(), id, kPatience);
}

}  // namespace recourse::testing
