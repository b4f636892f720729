// Records, written once over a Backend's transactions.
#pragma once

#include "store/backend.h"
#include "store/records.h"

namespace recourse::store {

class TransactionalRecords final : public Records {
 public:
  explicit TransactionalRecords(Backend& backend) : backend_(backend) {}

  Result<AddedRecord> add(const Record& record, std::optional<Duration> lives_for, Duration within,
                          const std::optional<Deed>& deed) override;
  Result<Record> replace(const Record& record, std::optional<Duration> lives_for,
                         Duration within) override;
  Result<bool> remove(std::string_view space, std::string_view name, Duration within,
                      const std::optional<Deed>& deed) override;
  Result<std::optional<Record>> find(std::string_view space, std::string_view name,
                                     Duration within) override;
  Result<RecordPage> list(std::string_view space, std::optional<std::string> after,
                          std::size_t limit, Duration within) override;
  Result<std::size_t> sweep(std::size_t limit, Duration within) override;

 private:
  Backend& backend_;
};

}  // namespace recourse::store
