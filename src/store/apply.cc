// apply, record_starts, renew: what owners write, each only while the row carries their ticket.
#include <optional>
#include <utility>

#include "store/apply_run.h"
#include "store/batch.h"
#include "store/transactional_store.h"

namespace recourse::store {

Result<std::vector<Applied>> TransactionalStore::apply(std::span<const Outcome> batch,
                                                       Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  ApplyRun run(pointers_to(batch), retention_);
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, run); !ran) {
    return fail(ran.error());
  }
  return run.answers();
}

Result<std::vector<bool>> TransactionalStore::record_starts(std::span<const Held> batch,
                                                            Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  std::vector<bool> written;
  const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within,
                                    [&](Transaction& transaction) -> Result<> {
                                      auto done = transaction.write_starts(batch);
                                      if (!done) return fail(done.error());
                                      written = std::move(*done);
                                      return {};
                                    });
  if (!ran) return fail(ran.error());
  return written;
}

Result<std::vector<std::optional<TimePoint>>> TransactionalStore::renew(std::span<const Held> batch,
                                                                        Duration lease_for,
                                                                        Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  if (Result<> valid = check_lease(lease_for); !valid) return fail(valid.error());
  std::vector<std::optional<TimePoint>> ends;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    const TimePoint end = saturating_add(*now, lease_for);
    const auto done = transaction.write_lease_ends(batch, end);
    if (!done) return fail(done.error());
    ends.clear();
    for (const bool written : *done) {
      ends.push_back(written ? std::optional(end) : std::nullopt);
    }
    return {};
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, work); !ran) {
    return fail(ran.error());
  }
  return ends;
}

}  // namespace recourse::store
