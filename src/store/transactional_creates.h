// Keys of create calls, written once over a Backend's transactions. How a caller's work comes into
// a transaction is the backend's own.
#pragma once

#include "store/backend.h"
#include "store/creates.h"

namespace recourse::store {

class TransactionalCreates : public Creates {
 public:
  explicit TransactionalCreates(Backend& backend) : backend_(backend) {}

  Result<Acquired> acquire(const CreateAsk& ask, Duration within) override {
    return take(ask, within);
  }
  Result<bool> succeed(const CreateHold& hold, std::string_view value, Duration within) override;
  Result<bool> give_up(const CreateHold& hold, std::string_view error, Duration within) override;
  Result<std::optional<Creation>> find(const CreateKey& key, Duration within) override;
  Result<std::size_t> sweep(std::size_t limit, Duration within) override;
  Result<Acquired> create_alone(const CreateAsk& ask, Duration within, CreateWork work) override;
  Result<Acquired> create_within(Guest& guest, const CreateAsk& ask, Duration within,
                                 CreateWork work) override;

 protected:
  virtual Result<Acquired> take(const CreateAsk& ask, Duration within);
  // Runs the work of whoever has the key; what it throws or answers as an error is marked as this
  // holder's failure, once `undo` has made it undone.
  Result<std::string> run_held(const Creation& creation, Guest& guest, CreateWork work,
                               FunctionRef<Result<>()> undo);

 private:
  Result<bool> end(const CreateHold& hold, const CreateEnd& end, Duration within);

  Backend& backend_;
};

// Who gets the key, within an open transaction: one try. kConflict: somebody else was faster; run
// it again. A key that stands for another request is told by `refused`.
struct Taking {
  Acquired answer = {};
  std::optional<Error> refused = std::nullopt;
};
Result<Taking> take_creation(Transaction& transaction, const CreateAsk& ask);

}  // namespace recourse::store
