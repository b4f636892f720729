// Under which counts are kept apart: no two writers ever choose the same.
#pragma once

#include <random>

#include "base/ulid.h"

namespace recourse::store::relational {

inline Ulid random_stripe() {
  std::random_device device;
  Ulid stripe;
  for (std::uint8_t& byte : stripe.bytes) byte = static_cast<std::uint8_t>(device());
  return stripe;
}

}  // namespace recourse::store::relational
