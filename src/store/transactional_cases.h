// Cases, written once over a Backend's transactions.
#pragma once

#include "store/backend.h"
#include "store/cases.h"

namespace recourse::store {

class TransactionalCases final : public Cases {
 public:
  explicit TransactionalCases(Backend& backend) : backend_(backend) {}

  Result<DueCases> take_due(std::size_t limit, Duration hold_for, Duration within) override;
  Result<std::vector<std::optional<TimePoint>>> put_off(std::span<const PutOff> batch,
                                                        Duration within) override;
  Result<std::vector<CaseItem>> assign(std::span<const task::TaskId> tasks,
                                       const Assignment& assignment, std::string_view by,
                                       Duration within) override;
  Result<Case> note(task::TaskId task, std::string_view text, std::string_view by,
                    Duration within) override;
  Result<std::optional<Case>> find(task::TaskId task, Duration within) override;
  Result<CasePage> list(const std::optional<std::string>& assignee,
                        std::optional<task::TaskId> after, std::size_t limit,
                        Duration within) override;

 private:
  Backend& backend_;
};

}  // namespace recourse::store
