// Who tells people of what waits for them: each with the product's book of the cases it has out.
// Channels are slow and fail; a teller dies now and then and forgets all it held, and what it had
// sent may arrive all the same. People take cases, hand them on and give them back.
#pragma once

#include <cstdint>
#include <vector>

#include "notify/case_book.h"
#include "store/cases.h"

namespace recourse::sim {

class World;

inline constexpr Duration kReminderInterval = std::chrono::minutes(4);
inline constexpr Duration kCaseHold = std::chrono::seconds(20);

class Tellers {
 public:
  explicit Tellers(World& world) : world_(world) {}

  void begin();

 private:
  struct Teller {
    notify::CaseBook book;
    // Raised with every death: what an earlier life asked for is not its own.
    std::uint64_t life = 0;
    bool busy = false;  // a call to the store is out
  };

  void turn(std::size_t index);
  void put_off(std::size_t index, std::vector<store::PutOff> batch);
  void take(std::size_t index);
  void tell(std::size_t index, const store::Case& held);
  void delivered(const store::Case& held);
  void people_take();
  // Still the life that asked: the answer is for it.
  Teller* alive(std::size_t index, std::uint64_t life);

  World& world_;
  std::vector<Teller> tellers_;
};

}  // namespace recourse::sim
