// What the three examples of consumers share: orders come by messages, and a stock service that is
// down at first has to reserve what they want.
#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "recourse/json.h"
#include "recourse/messages.h"

struct Order {
  std::string id;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, id, amount)

// Reserves once under one key, however often it is asked.
class StockService {
 public:
  void reserve(const std::string& key, const Order& order) {
    const std::lock_guard lock(mutex_);
    if (++calls_ <= 2) throw std::runtime_error("stock service: connection refused");
    reserved_.emplace(key, order);
  }
  std::size_t reserved() const {
    const std::lock_guard lock(mutex_);
    return reserved_.size();
  }

 private:
  mutable std::mutex mutex_;
  int calls_ = 0;
  std::map<std::string, Order> reserved_;
};

// Consumes until so many orders are reserved. Answers what main() does.
inline int consume_orders(recourse::SourceOptions source, std::size_t orders = 3) {
  using namespace std::chrono_literals;
  StockService stock;
  auto engine = recourse::Engine::open({.store = "memory:",
                                        .log =
                                            [](std::string_view level, std::string_view line) {
                                              if (level == "debug") return;
                                              std::printf("  %s\n", std::string(line).c_str());
                                            }})
                    .value();
  recourse::MessagesOptions options;
  options.groups.base_delay = 100ms;  // so that it ends soon; a second is the default
  auto messages = recourse::Messages::on(engine, options).value();
  messages.handle<Order>(
      source.group, [&](const recourse::MessageContext& message, const Order& order) {
        message.about(order.id);
        stock.reserve(message.idempotency_key(), order);
        std::printf("%s is reserved, at attempt %d\n", order.id.c_str(), message.attempt());
        return order.id;
      });
  messages.from(std::move(source));
  if (const auto started = engine.start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 2;
  }
  for (int i = 0; i < 600 && stock.reserved() < orders; ++i) std::this_thread::sleep_for(50ms);
  engine.stop(5s);
  const auto page = messages.list().value();
  for (const recourse::MessageRecord& record : page.records) {
    std::printf("record of %s: %s after %d attempts\n", record.business_id.c_str(),
                std::string(to_string(record.status)).c_str(), record.attempts);
  }
  std::printf("%zu of %zu orders are reserved\n", stock.reserved(), orders);
  return stock.reserved() == orders ? 0 : 1;
}
