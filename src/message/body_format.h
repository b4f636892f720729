// How the body of a message must look. Asked when it is handed over, and again before every run: a
// person retries what nobody can read, or has edited it since. Pure, but for the handler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/attempt_run.h"
#include "policy/decision.h"

namespace recourse::message {

enum class BodyFormat : std::uint8_t { kAny, kJson };

// The code of bodies that cannot be read.
inline constexpr std::string_view kUndecodable = "SERDE_ERROR";

// What is wrong with it, and what to do about it; empty where it looks as it must.
std::optional<std::string> misfit(std::string_view body, BodyFormat format);

// To a person: trying again heals nothing. It speaks against nobody who was called, so that no
// breaker opens.
policy::Decision unreadable(std::string why);

// Runs the handler where the body looks as it must.
engine::Handler check_body(engine::Handler handler, BodyFormat format);

}  // namespace recourse::message
