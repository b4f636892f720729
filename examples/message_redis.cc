// Orders from a stream of Redis Streams; what fails is retried, and every order is reserved once.
//
//   message_redis [URL [STREAM]]
#include "examples/order_consumer.h"

int main(int argc, char** argv) {
  return consume_orders({.name = "shop",
                         .url = argc > 1 ? argv[1] : "redis://localhost:6379",
                         .topic = argc > 2 ? argv[2] : "orders",
                         .group = "stock",
                         .body_field = "body"});
}
