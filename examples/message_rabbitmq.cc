// Orders from a queue of RabbitMQ; what fails is retried, and every order is reserved once.
//
//   message_rabbitmq [URL [QUEUE]]
#include "examples/order_consumer.h"

int main(int argc, char** argv) {
  return consume_orders({.name = "shop",
                         .url = argc > 1 ? argv[1] : "amqp://guest:guest@localhost/",
                         .topic = argc > 2 ? argv[2] : "orders",
                         .group = "stock",
                         .declare_queue = true});
}
