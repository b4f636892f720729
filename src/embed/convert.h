// Between what users of the library say and what the engine understands.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/ulid.h"
#include "embed/follow_ups.h"
#include "engine/attempt_run.h"
#include "engine/core/command.h"
#include "engine/core/schedule_table.h"
#include "engine/core/settings.h"
#include "policy/backoff.h"
#include "recourse/engine.h"
#include "store/reader.h"
#include "store/work.h"
#include "task/record.h"

namespace recourse::embed {

engine::KindSettings kind_settings(const KindOptions& options);

// Checked. `new_id` where the caller has none of its own; a relative deadline counts from `now`.
struct NewSubmission {
  store::Submission submission;
  // An id of the caller's own may have been sent before.
  store::Novelty novelty = store::Novelty::kFresh;
};
Result<NewSubmission> submission_of(Submission asked, const Ulid& new_id, TimePoint now,
                                    const Answering& answering);
// The rest is checked when it is registered.
Result<engine::Schedule> schedule_of(Schedule asked, const policy::BackoffRegistry& backoffs);
TaskView view_of(const task::Task& task);
// Of a task that exists.
Result<std::vector<NoteView>> notes_of(store::Reader& reader, std::string_view id, Duration within);
Result<TaskIdText> answer_of(const engine::SubmitAnswer& answer);

// The middleware must outlive the handler.
engine::Handler wrap(Handler handler, const std::vector<Middleware>& middleware,
                     std::shared_ptr<const Answering> answering);
engine::Handler wrap(AsyncHandler handler, std::shared_ptr<const Answering> answering);
engine::Probe wrap(Probe probe, std::shared_ptr<const Answering> answering);

}  // namespace recourse::embed
