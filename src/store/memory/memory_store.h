// A store in memory: for tests, for the simulation, and as the model of what the others must do.
// It lasts as long as its last handle.
#pragma once

#include <memory>

#include "base/clock.h"
#include "store/cases.h"
#include "store/opened.h"
#include "store/retention.h"

namespace recourse::store::memory {

// What several handles, as of several nodes, share.
class SharedData;
std::shared_ptr<SharedData> make_data();
// For tests: whatever has become of its task.
void leave_case(SharedData& data, Case one);

// The clock is the store's clock; it must outlive the handle.
std::unique_ptr<OpenedStore> open(std::shared_ptr<SharedData> data, const Clock& clock,
                                  Retention retention = {});

}  // namespace recourse::store::memory
