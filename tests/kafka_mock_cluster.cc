// librdkafka's mock cluster in a process of its own: prints where it is, then obeys lines on stdin
// (topic NAME PARTITIONS, down, up), each answered by "ok", until stdin ends.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

namespace {

constexpr int kBrokers = 3;

void obey(rd_kafka_mock_cluster_t* cluster, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::string topic;
  int partitions = 0;
  words >> verb >> topic >> partitions;
  if (verb == "topic") rd_kafka_mock_topic_create(cluster, topic.c_str(), partitions, kBrokers);
  for (int broker = 1; broker <= kBrokers; ++broker) {
    if (verb == "down") rd_kafka_mock_broker_set_down(cluster, broker);
    if (verb == "up") rd_kafka_mock_broker_set_up(cluster, broker);
  }
}

}  // namespace

int main() {
  char why[512];
  rd_kafka_t* host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof why);
  rd_kafka_mock_cluster_t* cluster = rd_kafka_mock_cluster_new(host, kBrokers);
  std::cout << rd_kafka_mock_cluster_bootstraps(cluster) << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    obey(cluster, line);
    std::cout << "ok" << std::endl;
  }
  rd_kafka_mock_cluster_destroy(cluster);
  rd_kafka_destroy(host);
}
