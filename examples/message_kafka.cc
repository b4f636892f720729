// Orders from a topic of Kafka; what fails is retried, and every order is reserved once.
//
//   message_kafka [URL [TOPIC]]
#include "examples/order_consumer.h"

int main(int argc, char** argv) {
  return consume_orders({.name = "shop",
                         .url = argc > 1 ? argv[1] : "kafka://localhost:9092",
                         .topic = argc > 2 ? argv[2] : "orders",
                         .group = "stock",
                         .heartbeat = std::chrono::seconds(6)});
}
