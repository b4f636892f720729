#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "http/server_fixture.h"

namespace recourse::http {
namespace {

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

TEST_F(ServerTest, ClosesIdleConnectionsAtOnceWhenItStops) {
  serve();
  RawClient client = this->client();
  RawClient silent = this->client();
  EXPECT_EQ(client.ask(get("/")).status, 200);

  server_->stop(1h);

  EXPECT_TRUE(client.ends_cleanly());
  EXPECT_EQ(server_->connections(), 0U);
  EXPECT_FALSE(RawClient(server_->port()).is_connected());
}

TEST_F(ServerTest, FinishesWhatIsUnderWayBeforeItStops) {
  serve(held_.service());
  RawClient client = this->client();
  client.send(get("/"));
  auto [request, responder] = held_.take();

  std::thread stopper([&] { server_->stop(1h); });
  EXPECT_TRUE(eventually([&] { return !RawClient(server_->port()).is_connected(); }));
  std::move(responder).send({.body = "finished"});
  const RawAnswer answer = client.read_answer();
  client.close();
  stopper.join();

  EXPECT_EQ(answer.body, "finished");
  EXPECT_EQ(answer.header("Connection"), "close");
}

TEST_F(ServerTest, ReadsARequestToItsEndBeforeItStops) {
  serve();
  RawClient client = this->client();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  client.read_answer();

  std::thread stopper([&] { server_->stop(1h); });
  EXPECT_TRUE(eventually([&] { return !RawClient(server_->port()).is_connected(); }));
  const RawAnswer answer = client.ask("last");
  client.close();
  stopper.join();

  EXPECT_EQ(answer.body, "POST last");
}

TEST_F(ServerTest, CutsWhatIsStillUnderWayAtTheLimit) {
  serve(held_.service());
  RawClient client = this->client();
  client.send(get("/"));
  auto held = held_.take();

  server_->stop(20ms);
  EXPECT_EQ(server_->connections(), 0U);
  EXPECT_EQ(client.read_answer().status, 0);
  EXPECT_TRUE(held.second.is_abandoned());
  server_->stop(20ms);
  server_.reset();

  std::move(held.second).send({.body = "there is no server any more"});
}

TEST_F(ServerTest, StopsUnderLoadAndLeavesNothingBehind) {
  std::thread([] {}).join();  // the thread sanitizer starts one of its own with the first
  const std::size_t threads_before = entries("/proc/self/task");
  const std::size_t files_before = entries("/proc/self/fd");
  for (int round = 0; round < 5; ++round) {
    ServerSettings settings = on_a_free_port();
    settings.threads = 2;
    serve(echo, settings);
    std::atomic<int> answered = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&, port = server_->port()] {
        while (true) {
          RawClient client(port);
          if (!client.is_connected()) return;
          // What was answered was answered whole.
          while (client.ask(post("/", "load")).body == "POST load") ++answered;
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return answered > 200; }));

    std::thread second([&] { server_->stop(5s); });
    server_->stop(5s);
    second.join();

    for (std::thread& client : clients) client.join();
    EXPECT_EQ(server_->connections(), 0U);
    server_.reset();
  }
  // The kernel strikes a thread off a moment after its join.
  EXPECT_TRUE(eventually([&] { return entries("/proc/self/task") <= threads_before; }))
      << entries("/proc/self/task") << " threads, " << threads_before << " before";
  EXPECT_EQ(entries("/proc/self/fd"), files_before);
}

TEST_F(ServerTest, StopsWithServicesThatAnswerFromOtherThreads) {
  ServerSettings settings = on_a_free_port();
  settings.threads = 2;
  std::atomic<bool> over = false;
  std::atomic<int> answered = 0;
  serve(held_.service(), settings);
  std::thread worker([&] {
    while (!over) {
      if (std::optional<std::pair<Request, Responder>> next = held_.try_take()) {
        std::move(next->second).send({.body = "worked"});
      }
    }
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, port = server_->port()] {
      RawClient client(port);
      while (client.ask(get("/")).body == "worked") ++answered;
    });
  }

  EXPECT_TRUE(eventually([&] { return answered > 200; }));
  server_->stop(10ms);
  server_.reset();

  for (std::thread& client : clients) client.join();
  over = true;
  worker.join();
}

}  // namespace
}  // namespace recourse::http
