// Which messages; the same words list them and choose them for an order.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/filter_flags.h"

namespace recourse::cli {

struct MessageFlags {
  std::string status = {}, kind = {}, message_id = {}, business_id = {}, topic = {}, group = {},
              source = {}, from = {}, before = {};

  [[nodiscard]] Parameters given() const;
};

void add_message_flags(CLI::App& command, MessageFlags& flags, const std::string& statuses);

}  // namespace recourse::cli
