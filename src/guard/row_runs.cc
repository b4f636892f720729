#include "guard/row_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "base/rfc3339.h"
#include "base/text.h"
#include "guard/retry_rule.h"

namespace recourse::guard {
namespace {

// Of a claim, and of what is written back: that is worth more, because it is known what came of it.
constexpr Duration kClaimPatience = std::chrono::seconds(5);
constexpr Duration kWritePatience = std::chrono::seconds(10);
// Before a table that does not answer is asked again.
constexpr Duration kUnreachableFor = std::chrono::seconds(2);
// Before a row that its table does not let us write to is tried again: somebody has to mend that.
constexpr Duration kRefusedFor = std::chrono::seconds(30);

}  // namespace

RowRuns::RowRuns(Parts parts)
    : parts_(std::move(parts)),
      keeper_(parts_.table, parts_.clock, parts_.log, hold_of(parts_.table.settings())) {}

void RowRuns::run(const std::shared_ptr<engine::AttemptRun>& run) {
  const Result<RowId> id = parts_.table.parse_id(run->task().spec.payload);
  if (!id) {
    const bool is_away = id.error().code == ErrorCode::kUnavailable;
    run->complete(
        engine::Decided{is_away ? again_in(kUnreachableFor, "TABLE_FAILED", id.error().message)
                                : not_ours("its payload is no row's id: " + id.error().message)});
    return;
  }
  engine::AttemptResult result = result_of(*id, *run);
  parts_.ran(*id);
  run->complete(std::move(result));
}

engine::AttemptResult RowRuns::result_of(const RowId& id, engine::AttemptRun& run) {
  const BootTime begun = parts_.clock.since_boot();
  // A claim that took half of its own time is not worth having.
  const Duration patience = std::min(kClaimPatience, keeper_.hold() / 2);
  Result<ClaimAnswer> answer = parts_.table.claim(id, keeper_.hold(), patience);
  if (!answer && answer.error().code == ErrorCode::kInvalid)
    return engine::Decided{refused(id, answer.error())};
  if (!answer) return engine::Decided{unreachable(id, "claim", answer.error())};
  if (!answer->claim) return engine::Decided{not_claimed(id, *answer)};
  const BootTime claimed_at = parts_.clock.since_boot();
  ++parts_.tally.retried;
  const auto kept = keeper_.keep(*std::move(answer->claim), begun);
  const Tried tried = try_it(id, run, *kept);
  const std::optional<Claim> claim = kept->release();
  if (!claim) return lost(id);
  // The node ends, or a person has stopped the task: that is not the row's failure. Its claim ends
  // by itself, as that of a node that died.
  if (!tried.healed && run.is_cut_off()) return engine::Decided{cut_off(id, tried.error)};
  return tried.healed ? healed(*claim, claimed_at) : failed(*claim, claimed_at, tried.error);
}

policy::Decision RowRuns::not_claimed(const RowId& id, const ClaimAnswer& answer) {
  ++parts_.tally.not_claimed;
  if (answer.standing == Standing::kAlreadySuccess) parts_.found_well();
  const std::string why(explain(answer.standing));
  say(LogLevel::kInfo, "guard_row_not_claimed", id, {{"why", why}});
  return answer.standing == Standing::kLater ? not_before(answer.wait, why) : not_ours(why);
}

// All that user code throws ends here.
RowRuns::Tried RowRuns::try_it(const RowId& id, engine::AttemptRun& run,
                               const Keeper::Kept& kept) const {
  const auto call = [&] {
    return RowCall{.id = id,
                   .task = run.task().id,
                   .attempt = run.start().number,
                   .stop = run.stop_token(),
                   .time_left = run.time_left()};
  };
  const RowWords& words = parts_.handlers.words;
  const std::string* threw = &words.check_threw;
  try {
    if (kept.is_lost()) return {.error = "the row was not ours any more when its turn came"};
    if (parts_.handlers.check_status(call())) return {.healed = true};
    if (kept.is_lost()) return {.error = "the row was not ours any more when it was checked"};
    threw = &words.handle_threw;
    const bool handled = parts_.handlers.handle_exception(call());
    threw = &words.check_threw;
    if (parts_.handlers.check_status(call())) return {.healed = true};
    return {.error = handled ? words.not_well : words.not_handled};
  } catch (const std::exception& thrown) {
    return {.error = *threw + one_line(thrown.what(), 1'000)};
  } catch (...) {
    return {.error = *threw + "what is no std::exception"};
  }
}

engine::AttemptResult RowRuns::healed(const Claim& claim, BootTime claimed_at) {
  const Result<bool> written = parts_.table.succeeded(claim, kWritePatience);
  // The table itself refuses it, as a constraint or a unique index does: then asking again heals
  // nothing, and a run that cannot be written has failed.
  if (!written && (written.error().code == ErrorCode::kInvalid ||
                   written.error().code == ErrorCode::kConflict)) {
    return failed(claim, claimed_at,
                  "the row is well, but that could not be written: " + written.error().message);
  }
  if (!written) return engine::Decided{unreachable(claim.row.id, "write 2001", written.error())};
  if (!*written) return lost(claim.row.id);
  ++parts_.tally.healed_by_retry;
  say(LogLevel::kInfo, "guard_row_healed", claim.row.id,
      {{"retries", std::to_string(claim.row.retries)}});
  return engine::Succeeded{};
}

engine::AttemptResult RowRuns::failed(const Claim& claim, BootTime claimed_at,
                                      const std::string& error) {
  const auto after = parts_.table.failed(claim, kWritePatience);
  if (!after) return engine::Decided{unreachable(claim.row.id, "write back", after.error())};
  if (!*after) return lost(claim.row.id);
  ++parts_.tally.failed;
  if (!(*after)->next_retry) {
    ++parts_.tally.escalated;
    say(LogLevel::kError, "guard_row_needs_person", claim.row.id,
        {{"retries", std::to_string(claim.row.retries)}, {"error", error}});
    parts_.escalated(claim.row.id, error);
    return engine::Decided{with_a_person(error)};
  }
  // Late by what the claim's answer took to come, never early.
  const Duration since = parts_.clock.since_boot() - claimed_at;
  const Duration wait = std::max(*(*after)->next_retry - (claim.now + since), Duration::zero());
  say(LogLevel::kWarning, "guard_row_failed", claim.row.id,
      {{"retries", std::to_string((*after)->retries)},
       {"next_retry", format_rfc3339(*(*after)->next_retry)},
       {"error", error}});
  return engine::Decided{again_in(wait, "ROW_FAILED", error)};
}

engine::AttemptResult RowRuns::lost(const RowId& id) {
  ++parts_.tally.lost;
  say(LogLevel::kWarning, "guard_row_lost", id);
  return engine::Decided{
      not_ours("the row was changed while it was handled: what stands there now counts")};
}

policy::Decision RowRuns::unreachable(const RowId& id, std::string_view doing, const Error& error) {
  say(LogLevel::kWarning, "guard_table_failed", id,
      {{"doing", std::string(doing)}, {"error", error.message}});
  return again_in(kUnreachableFor, "TABLE_FAILED", error.message);
}

policy::Decision RowRuns::cut_off(const RowId& id, const std::string& error) {
  say(LogLevel::kInfo, "guard_row_cut_off", id, {{"error", error}});
  return not_before(keeper_.hold(), "it was cut off: " + error);
}

// The row's own trouble, such as a trigger: it speaks against nobody else.
policy::Decision RowRuns::refused(const RowId& id, const Error& error) {
  say(LogLevel::kWarning, "guard_table_failed", id, {{"doing", "claim"}, {"error", error.message}});
  return not_before(kRefusedFor, "its table refuses to have it claimed: " + error.message);
}

void RowRuns::say(LogLevel level, std::string_view event, const RowId& id,
                  std::initializer_list<LogField> more) {
  std::vector<LogField> fields{{"guard", parts_.table.settings().name},
                               {"table", parts_.table.settings().table},
                               {"row", to_string(id)}};
  fields.insert(fields.end(), more.begin(), more.end());
  parts_.log.write(level, event, fields);
}

}  // namespace recourse::guard
