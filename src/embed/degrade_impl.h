// What a Degrade holds.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "degrade/downstream.h"
#include "degrade/failure.h"
#include "degrade/recorder.h"
#include "degrade/records.h"
#include "embed/engine_impl.h"
#include "recourse/degrade.h"

namespace recourse {

struct Degrade::Impl {
  Impl(Engine::Impl& on, const DegradeOptions& given, std::unique_ptr<degrade::Spool> spool);

  // By field name where it is not one of ours.
  Result<degrade::Downstream*> downstream_of(std::string_view kind);
  Result<degrade::Failure> failure_of(std::string_view kind, std::string_view payload,
                                      const DegradeKeys& keys, std::string_view reason);
  // False: too late, taken, or no good name, and said so by start().
  bool add_kind(std::string_view kind);
  // Durable, and logged.
  Result<> record(task::TaskId id, const degrade::Failure& failure, store::Novelty novelty,
                  bool was_tried);
  // Of those who caught the error themselves. Answers the id.
  Result<std::string> record_caught(task::TaskId id, store::Novelty novelty, std::string_view kind,
                                    std::string_view payload, const DegradeKeys& keys,
                                    std::string_view reason);
  // Names what is wrong with it.
  Result<degrade::Query> query_of(const FailureQuery& asked) const;

  Engine::Impl& engine;
  const DegradeOptions options;
  const degrade::RetryPreset retries;
  std::vector<task::Kind> kinds;
  degrade::Recorder recorder;
  // Last: what they still run when this ends may want all of the above.
  std::map<std::string, std::unique_ptr<degrade::Downstream>, std::less<>> downstreams;
};

}  // namespace recourse
