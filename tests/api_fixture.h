// What the tests of the API's parts share: a store in memory and clocks.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/manual_clock.h"
#include "base/ulid_source.h"
#include "store/memory/memory_store.h"

namespace recourse::api {

using namespace std::chrono_literals;

class OnAMemoryStore : public testing::Test {
 protected:
  task::TaskId submit(const std::string& kind, std::optional<TimePoint> deadline = std::nullopt) {
    store::Submission submission;
    submission.id = task::TaskId(ids_.next());
    submission.spec.kind = task::Kind(kind);
    submission.spec.max_retries = 1;
    submission.spec.deadline = deadline;
    EXPECT_TRUE(opened_->store().insert(std::vector{submission}, store::Novelty::kFresh, 1s));
    return submission.id;
  }
  task::Task task(task::TaskId id) { return opened_->reader().find(id, 1s).value(); }

  ManualClock clock_{TimePoint(1'800'000'000s)};
  UlidSource ids_{clock_, 1};
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
};

}  // namespace recourse::api
