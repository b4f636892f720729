#include "degrade/submission_bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::degrade {
namespace {

store::Submission arbitrary_submission() {
  store::Submission made;
  UlidSequence ids(*rc::gen::arbitrary<std::uint64_t>());
  made.id =
      task::TaskId(ids.next(TimePoint(Duration(*rc::gen::inRange<std::int64_t>(0, 1LL << 50)))));
  made.delay = Duration(*rc::gen::arbitrary<std::int64_t>());
  task::TaskSpec& spec = made.spec;
  spec.tenant = task::Tenant(*rc::gen::arbitrary<std::string>());
  spec.kind = task::Kind(*rc::gen::arbitrary<std::string>());
  spec.shard_key = task::ShardKey(*rc::gen::arbitrary<std::string>());
  spec.unique_key = task::UniqueKey(*rc::gen::arbitrary<std::string>());
  spec.priority = *rc::gen::arbitrary<int>();
  spec.payload = *rc::gen::arbitrary<std::string>();
  spec.headers = *rc::gen::arbitrary<std::map<std::string, std::string>>();
  spec.trace_parent = *rc::gen::arbitrary<std::string>();
  spec.search_keys = *rc::gen::arbitrary<std::map<std::string, std::string>>();
  spec.max_retries = *rc::gen::arbitrary<int>();
  spec.timeout = Duration(*rc::gen::arbitrary<std::int64_t>());
  if (*rc::gen::arbitrary<bool>()) {
    spec.deadline = TimePoint(Duration(*rc::gen::inRange<std::int64_t>(0, 1LL << 55)));
  }
  spec.backoff = *rc::gen::arbitrary<std::string>();
  return made;
}

RC_GTEST_PROP(SubmissionBytes, ComeBackAsTheyWere, ()) {
  const store::Submission made = arbitrary_submission();

  const auto read = submission_from(to_bytes(made));

  RC_ASSERT(read.has_value());
  RC_ASSERT(read->id == made.id);
  RC_ASSERT(read->delay == made.delay);
  RC_ASSERT(read->spec == made.spec);
}

RC_GTEST_PROP(SubmissionBytes, APartOrMoreOfThemIsNone, ()) {
  const std::string bytes = to_bytes(arbitrary_submission());
  const auto cut = *rc::gen::inRange<std::size_t>(0, bytes.size());

  RC_ASSERT(submission_from(std::string_view(bytes).substr(0, cut)).error().code ==
            ErrorCode::kCorrupt);
  RC_ASSERT(submission_from(bytes + "x").error().code == ErrorCode::kCorrupt);
}

// From a version that nobody knows yet, or from somewhere else altogether.
RC_GTEST_PROP(SubmissionBytes, WhateverComesCrashesNothing, (const std::string& bytes)) {
  RC_ASSERT(!submission_from(bytes));
}

}  // namespace
}  // namespace recourse::degrade
