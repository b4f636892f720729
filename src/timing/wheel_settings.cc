#include "timing/wheel_settings.h"

#include "base/field_checks.h"
#include "timing/occupancy.h"

namespace recourse::timing {

Result<> validate(const WheelSettings& settings) {
  using namespace std::chrono_literals;
  return FieldChecks("wheel")
      .between<Duration>("tick", settings.tick, 1ms, 1h)
      .between("slots", settings.slots, std::size_t{2}, Occupancy::kSlotsMax)
      .between("max_pending", settings.max_pending, std::size_t{1}, std::size_t{100'000'000})
      .result();
}

}  // namespace recourse::timing
