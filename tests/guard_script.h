// What becomes of each stuck row in the tests that kill processes: its handler's script, by its id,
// known to the processes and to whoever checks them.
#pragma once

#include <cstdint>

namespace recourse::tests {

enum class RowScript : std::uint8_t {
  kHealsAtOnce,       // 2001
  kHealsSecondTime,   // 2001
  kHealedByBusiness,  // the application writes SUCCESS meanwhile: 2001
  kHealedByPerson,    // never by itself; a person ends it: 2002
  kNeverHeals,        // 4001
};

// `step`: every so many rows one is stuck.
inline RowScript script_of(std::int64_t id, std::int64_t step) {
  switch (id / step % 10) {
    case 6:
    case 7: return RowScript::kHealsSecondTime;
    case 8: return RowScript::kHealedByBusiness;
    case 9: return RowScript::kHealedByPerson;
    case 5: return RowScript::kNeverHeals;
    default: return RowScript::kHealsAtOnce;
  }
}

inline int end_of(RowScript script) {
  switch (script) {
    case RowScript::kHealsAtOnce:
    case RowScript::kHealsSecondTime:
    case RowScript::kHealedByBusiness: return 2001;
    case RowScript::kHealedByPerson: return 2002;
    case RowScript::kNeverHeals: return 4001;
  }
  return 0;
}

// Some take longer than their time, which must not matter to anybody.
inline bool is_slow(std::int64_t id, std::int64_t step) { return id / step % 53 == 1; }

}  // namespace recourse::tests
