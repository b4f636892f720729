// From the configuration's kinds to handlers of the engine.
#pragma once

#include <string>
#include <vector>

#include "api/desk.h"
#include "app/config/config.h"
#include "base/clock.h"
#include "base/result.h"
#include "engine/node.h"
#include "http/client.h"

namespace recourse::app {

class MessageDoor;

// What registering them would refuse, said before anything is opened.
Result<> check_kinds(const Config& config, const Environment& environment);

// Registers them all; the error names the kind. Client, clock, door and log outlive the
// node's attempts.
Result<> register_kinds(const Config& config, const Environment& environment, engine::Node& node,
                        http::Client& client, const Clock& clock, MessageDoor& messages, Log& log);

// What people are shown of them.
std::vector<api::KindCard> cards_of(const Config& config);

std::vector<api::ScheduleCard> schedule_cards_of(const Config& config);

// Without the password that may stand in it.
std::string shown_url(const std::string& url);

}  // namespace recourse::app
