#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "http/server_fixture.h"

namespace recourse::http {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST_F(ServerTest, AnswersOneRequestAfterAnotherOnOneConnection) {
  serve();
  RawClient client = this->client();

  const RawAnswer first = client.ask(post("/a/b%20c", "one"));
  const RawAnswer second = client.ask(get("/"));

  EXPECT_EQ(first.status_line, "HTTP/1.1 200 OK");
  EXPECT_EQ(first.body, "POST/a/b c one");
  EXPECT_EQ(first.header("Server"), "recourse");
  EXPECT_EQ(first.header("Content-Type"), "text/plain");
  EXPECT_EQ(first.header("Connection"), "");
  EXPECT_THAT(first.header("Date"), MatchesRegex("[A-Z][a-z]+, .* GMT"));
  EXPECT_EQ(second.body, "GET ");
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(ServerTest, TellsTheServiceWhoAsks) {
  serve([](const Request& request, Responder responder) {
    std::move(responder).send({.body = request.peer});
  });

  EXPECT_EQ(client().ask(get("/")).body, "127.0.0.1");
}

TEST_F(ServerTest, AnswersHeadAndEmptyStatusesWithoutABody) {
  serve([](const Request& request, Responder responder) {
    std::move(responder).send({.status = request.path.empty() ? 200 : 204, .body = "body"});
  });
  RawClient client = this->client();

  client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  const RawAnswer head = client.read_answer(false);
  const RawAnswer nothing = client.ask(get("/nothing"));
  const RawAnswer after = client.ask(get("/"));

  EXPECT_EQ(head.header("Content-Length"), "4");
  EXPECT_EQ(nothing.status, 204);
  EXPECT_EQ(nothing.header("Content-Length"), "");
  EXPECT_EQ(after.body, "body") << "nothing was left in between";
}

TEST_F(ServerTest, ServesOldClients) {
  serve();
  RawClient plain = client();
  RawClient staying = client();

  const RawAnswer closed = plain.ask("GET /a HTTP/1.0\r\n\r\n");
  const RawAnswer kept = staying.ask("GET /b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");

  EXPECT_EQ(closed.body, "GET/a ");
  EXPECT_EQ(closed.header("Connection"), "close");
  EXPECT_TRUE(plain.ends_cleanly());
  EXPECT_EQ(kept.header("Connection"), "keep-alive");
  EXPECT_EQ(staying.ask("GET /c HTTP/1.0\r\n\r\n").body, "GET/c ");
}

TEST_F(ServerTest, ClosesWhereItIsAskedTo) {
  serve();
  RawClient client = this->client();

  const RawAnswer answer = client.ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");

  EXPECT_EQ(answer.header("Connection"), "close");
  EXPECT_TRUE(client.ends_cleanly());
}

TEST_F(ServerTest, AnswersPipelinedRequestsInTheirOrder) {
  serve(held_.service());
  RawClient client = this->client();
  std::string all;
  for (int i = 0; i < 3; ++i) all += post("/" + std::to_string(i), std::string(20'000, 'x'));
  std::thread sender([&] { client.send(all); });

  for (int i = 0; i < 3; ++i) {
    auto [request, responder] = held_.take();
    EXPECT_EQ(request.path.at(0), std::to_string(i));
    // From another thread than the server's.
    std::move(responder).send(echoed(request));
    EXPECT_EQ(client.read_answer().body.size(), 20'007U);
  }

  sender.join();
}

TEST_F(ServerTest, SendsAnswersThatNoSocketBufferHolds) {
  serve([](const Request&, Responder responder) {
    std::move(responder).send({.body = much(20'000'000) + "end"});
  });
  RawClient client = this->client();

  const RawAnswer answer = client.ask(get("/"));

  EXPECT_EQ(answer.body.size(), 20'000'003U);
  EXPECT_TRUE(answer.body.ends_with("end"));
  EXPECT_EQ(client.ask(get("/")).body.size(), 20'000'003U);
}

TEST_F(ServerTest, SaysContinueToWhomeverWaitsForIt) {
  serve();
  RawClient client = this->client();

  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 100);
  client.send("yes");

  EXPECT_EQ(client.read_answer().body, "POST yes");
}

TEST_F(ServerTest, ReadsBodiesInChunks) {
  serve();

  const RawAnswer answer = client().ask(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");

  EXPECT_EQ(answer.body, "POST abc");
}

TEST_F(ServerTest, AnswersForAServiceThatDropsARequest) {
  serve([](const Request&, const Responder&) {});
  RawClient client = this->client();

  const RawAnswer answer = client.ask(post("/", "x"));

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(client.ask(post("/", "x")).status, 500) << "the connection goes on";
}

TEST_F(ServerTest, AnswersForAServiceThatThrows) {
  serve([](const Request&, const Responder&) { throw std::runtime_error("no such thing"); });

  EXPECT_EQ(client().ask(get("/")).status, 500);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("no such thing")));
}

TEST_F(ServerTest, AnswersForAServiceThatTakesTooLong) {
  ServerSettings settings = on_a_free_port();
  settings.answer_within = 20ms;
  serve(held_.service(), settings);
  RawClient client = this->client();

  const RawAnswer late = client.ask(get("/1"));
  auto first = held_.take();
  EXPECT_TRUE(first.second.is_abandoned());
  std::move(first.second).send({.body = "too late"});
  client.send(get("/2"));
  auto second = held_.take();
  std::move(second.second).send({.body = "in time"});

  EXPECT_EQ(late.status, 503);
  EXPECT_NE(late.header("Retry-After"), "");
  EXPECT_EQ(client.read_answer().body, "in time");
}

TEST_F(ServerTest, KnowsWhenNobodyWaitsForTheAnswer) {
  serve(held_.service());
  RawClient leaving = client();
  RawClient staying = client();
  leaving.send(get("/leaving"));
  auto left = held_.take();
  staying.send(get("/staying"));
  auto stayed = held_.take();
  EXPECT_FALSE(left.second.is_abandoned());

  leaving.reset();

  EXPECT_TRUE(eventually([&] { return left.second.is_abandoned(); }));
  EXPECT_FALSE(stayed.second.is_abandoned());
  std::move(left.second).send({});
  std::move(stayed.second).send({.body = "still here"});
  EXPECT_EQ(staying.read_answer().body, "still here");
  EXPECT_TRUE(eventually([&] { return server_->connections() == 1; }));
}

TEST_F(ServerTest, AnswersAClientThatHasClosedItsOwnSide) {
  serve(held_.service());
  RawClient client = this->client();

  client.send(get("/"));
  client.close_own_side();
  auto [request, responder] = held_.take();
  EXPECT_TRUE(eventually([&] { return responder.is_abandoned(); }));
  std::move(responder).send({.body = "all the same"});

  EXPECT_EQ(client.read_answer().body, "all the same");
  EXPECT_TRUE(client.ends_cleanly());
}

TEST_F(ServerTest, TellsWhatTheWholeServerCanDo) {
  serve();

  const RawAnswer answer = client().ask("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n");

  EXPECT_EQ(answer.status, 204);
  EXPECT_THAT(answer.header("Allow"), HasSubstr("GET, HEAD, POST"));
}

TEST_F(ServerTest, ListensOnIpv6) {
  ServerSettings settings = on_a_free_port();
  settings.listen = "[::1]:0";
  serve(echo, settings);

  EXPECT_EQ(RawClient(server_->port(), "::1").ask(get("/six")).body, "GET/six ");
}

TEST_F(ServerTest, ServesManyConnectionsOnSeveralThreads) {
  ServerSettings settings = on_a_free_port();
  settings.threads = 3;
  serve(echo, settings);
  const auto ask_often = [&](int number) {
    RawClient client = this->client();
    for (int i = 0; i < 200; ++i) {
      const std::string body = std::to_string(number * 1000 + i);
      EXPECT_EQ(client.ask(post("/", body)).body, "POST " + body);
    }
  };

  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) threads.emplace_back(ask_often, number);
  for (std::thread& thread : threads) thread.join();
}

std::string refusal_to_start(const ServerSettings& settings) {
  NullLog log;
  const Result<std::unique_ptr<Server>> started = Server::start(settings, echo, refused, log);
  return started ? "" : started.error().message;
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
  serve();
  const std::string taken = "127.0.0.1:" + std::to_string(server_->port());

  EXPECT_EQ(refusal_to_start({.listen = taken}),
            "cannot listen on " + taken +
                ": address already in use; stop the other program or choose another with --listen");
  EXPECT_THAT(refusal_to_start({.listen = "192.0.2.1:0"}), HasSubstr("no such address"));
  EXPECT_THAT(refusal_to_start({.listen = "7070"}), HasSubstr("must be HOST:PORT"));
  EXPECT_THAT(refusal_to_start({.listen = "no.such.host.invalid:0"}),
              HasSubstr("no address is known"));
  EXPECT_THAT(refusal_to_start({.listen = "127.0.0.1:0", .threads = 0}), HasSubstr("http.threads"));
}

}  // namespace
}  // namespace recourse::http
