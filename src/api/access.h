// Who calls, and what they may do.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "task/ids.h"

namespace recourse::api {

// Each may do what those before it may.
enum class Role : std::uint8_t {
  kNone,      // anybody, without a token
  kViewer,    // look
  kOperator,  // submit, lease, steer
  kAdmin,     // tokens, kinds of everybody
};

inline constexpr std::array kGivenRoles{Role::kViewer, Role::kOperator, Role::kAdmin};

constexpr std::string_view to_string(Role role) {
  switch (role) {
    case Role::kNone: return "none";
    case Role::kViewer: return "viewer";
    case Role::kOperator: return "operator";
    case Role::kAdmin: return "admin";
  }
  std::abort();
}

struct Identity {
  // As the audit names them.
  std::string name = "anonymous";
  Role role = Role::kNone;
  // Sees and changes tasks of this one only; empty: of all.
  std::optional<task::Tenant> tenant = std::nullopt;

  [[nodiscard]] bool makes_tokens() const { return role == Role::kAdmin && !tenant; }
  [[nodiscard]] bool may_see(const task::Tenant& other) const {
    return !tenant || *tenant == other;
  }
};

}  // namespace recourse::api
