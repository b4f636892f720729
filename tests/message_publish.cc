// Puts messages into a broker, for tests of what consumes them.
//
//   message_publish URL TOPIC BODY...
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/log.h"
#include "message/open_source.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  recourse::NullLog log;
  recourse::message::SourceSettings settings{
      .name = "publisher", .url = argv[1], .topic = argv[2], .group = "publisher"};
  settings.rabbitmq.declare = true;
  auto source = recourse::message::open_source(settings, log);
  if (!source) return 1;
  std::vector<recourse::message::Outgoing> messages;
  for (int i = 3; i < argc; ++i) {
    messages.push_back({.topic = argv[2],
                        .key = {},
                        .id = "m-" + std::to_string(i - 2),
                        .headers = {},
                        .body = argv[i]});
  }
  const auto by = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  // Declares the queue.
  if (settings.url.starts_with("amqp")) {
    if (const auto connected = (*source)->connect(by); !connected) {
      std::fprintf(stderr, "%s\n", connected.error().message.c_str());
      return 1;
    }
  }
  const auto done = (*source)->publish(messages, by);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
