// Who may create under a key. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/creates.h"

namespace recourse::store {

// How long a key is kept, and how long a holder has.
inline constexpr Duration kCreateTtlMin = std::chrono::seconds(1);
inline constexpr Duration kCreateTtlMax = std::chrono::hours(24 * 366);
inline constexpr Duration kCreateLockMin = std::chrono::milliseconds(100);
inline constexpr Duration kCreateLockMax = std::chrono::hours(1);

Result<> check(const CreateAsk& ask);
Result<> check(const CreateKey& key);

enum class KeyVerdict : std::uint8_t {
  kTake,        // nobody has it any more, or its time is over
  kReplay,      // it was created
  kInProgress,  // its holder's lock lasts
  kOther,       // it stands for another request
};

// Of a key that is there.
KeyVerdict judge(const Creation& there, const CreateAsk& ask, TimePoint now);
// kConflict where it is kOther: says in what it differs.
Error other_request(const Creation& there, const CreateAsk& ask);

// kConflict: its lock is over, and somebody else may have the key.
Error hold_is_over();
// Why a hold could not end so, as the key stands now.
Error why_not_ended(const std::optional<Creation>& there, const CreateHold& hold);

// Nobody had the key before.
bool is_first_holder(const Creation& creation);

Creation first_creation(const CreateAsk& ask, TimePoint now);
// Under the same id, unless the time of the key is over. Only where judge() says kTake.
Creation next_creation(const Creation& there, const CreateAsk& ask, TimePoint now);
Creation succeeded(Creation creation, std::string_view value);
Creation failed(Creation creation, std::string_view error);

// The value as it is kept, and whether that is all of it.
struct KeptValue {
  std::string_view text;
  bool is_cut = false;
};
KeptValue kept_value(std::string_view value);
std::string kept_error(std::string_view error);

}  // namespace recourse::store
