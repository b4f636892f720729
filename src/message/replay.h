// Retrying a message by publishing it once more, to its own topic, instead of calling the handler:
// it takes its place behind what came later, and whoever consumes that topic gets it.
//
// How often it was tried travels with it in a header, so that it comes before a person after as
// many retries as any other. Its mark is forgotten first: a crash in between publishes it twice,
// and the copy that is consumed first has the mark, by which the other one is known. A run that
// finds that mark publishes nothing more.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/attempt_run.h"
#include "message/envelope.h"
#include "message/message.h"
#include "store/inbox.h"

namespace recourse::message {

// The reason of a task that has ended because its message was published again. It is cancelled, and
// not done: its copy is.
inline constexpr std::string_view kReplayed = "REPLAYED";

// Carries how many retries are used up.
inline constexpr std::string_view kReplayHeader = "recourse-replay";

// Zero where there is none, or none that makes sense.
int replays_of(const std::vector<Header>& headers);
// As it is published again.
Outgoing outgoing_of(const Envelope& envelope, std::string body, int retries);

// Durable on the broker when it answers.
using Publish = std::function<Result<>(Outgoing)>;

struct ReplayParts {
  store::Inbox& inbox;
  Log& log;
  Publish publish;
  // Before a broker or a store in trouble is asked again.
  Duration pause = std::chrono::seconds(5);
};

// A task that was tried is published; one that was not is run. A task that is no message goes to a
// person.
engine::Handler replay_retries(engine::Handler handler, const ReplayParts& parts);

}  // namespace recourse::message
