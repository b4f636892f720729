// What MariaDB and MySQL do better than the common steps.
#pragma once

#include <cstdint>

#include "store/relational/transaction.h"

namespace recourse::store::mysql {

extern const relational::Dialect kDialect;

// MariaDB answers with what it deletes; MySQL does not.
enum class Flavour : std::uint8_t { kMysql, kMariadb };

class MysqlTransaction final : public relational::RelationalTransaction {
 public:
  MysqlTransaction(const relational::Seat& seat, Care care, Flavour flavour)
      : RelationalTransaction(seat, care), flavour_(flavour) {}

  Result<std::vector<bool>> write_finishes(std::span<const Finish> finishes) override;
  Result<std::vector<bool>> insert_marks(std::span<const NewMark> marks) override;

 protected:
  // One question, which also tells the time where nobody has asked for it yet.
  Result<std::vector<int>> due_priorities(const task::Kind& kind) override;

 private:
  Flavour flavour_;
};

}  // namespace recourse::store::mysql
