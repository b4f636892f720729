// What a client may not do, and that it is told so before the connection closes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "http/server_fixture.h"

namespace recourse::http {
namespace {

ServerSettings small() {
  ServerSettings settings = on_a_free_port();
  settings.header_bytes_max = 512;
  settings.body_bytes_max = 1'000;
  return settings;
}

// A refusal is a problem document, is read whole, and is the last thing said.
testing::AssertionResult is_refused(RawClient& client, int status) {
  const RawAnswer answer = client.read_answer();
  if (answer.status != status) {
    return testing::AssertionFailure() << "status " << answer.status << ", not " << status;
  }
  if (answer.header("Content-Type") != "application/problem+json") {
    return testing::AssertionFailure() << "not through the refusal";
  }
  if (answer.header("Connection") != "close") return testing::AssertionFailure() << "not closing";
  if (!client.ends_cleanly()) return testing::AssertionFailure() << "not closed cleanly";
  return testing::AssertionSuccess();
}

TEST_F(ServerTest, RefusesHeadsThatAreTooLong) {
  serve(echo, small());
  RawClient target = client();
  RawClient headers = client();

  target.send("GET /" + std::string(600, 'a'));
  headers.send("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(600, 'a'));
  headers.close_own_side();
  target.close_own_side();

  EXPECT_TRUE(is_refused(target, 414));
  EXPECT_TRUE(is_refused(headers, 431));
}

TEST_F(ServerTest, RefusesALongBodyByItsLengthAlone) {
  serve(echo, small());
  RawClient client = this->client();

  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
  client.close_own_side();

  EXPECT_TRUE(is_refused(client, 413));
}

// The answer must not be lost to a reset while the client is still sending.
TEST_F(ServerTest, RefusesALongBodyToAClientThatSendsIt) {
  serve(echo, small());

  for (int i = 0; i < 20; ++i) {
    RawClient client = this->client();
    client.send(post("/", std::string(100'000, 'x')));
    client.close_own_side();
    EXPECT_TRUE(is_refused(client, 413));
  }
}

TEST_F(ServerTest, RefusesALongBodyInChunksWhileItReads) {
  serve(echo, small());
  RawClient client = this->client();

  client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 2; ++i) client.send("1f4\r\n" + std::string(500, 'x') + "\r\n");
  client.send("1\r\n");
  client.close_own_side();

  EXPECT_TRUE(is_refused(client, 413));
}

TEST_F(ServerTest, RefusesByWhatThisRequestIsNotByTheOneBefore) {
  serve(echo, small());
  RawClient client = this->client();
  RawClient head = this->client();

  client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_answer(false);
  client.send("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n");
  const RawAnswer answer = client.read_answer();
  head.send("HEAD /%zz HTTP/1.1\r\nHost: h\r\n\r\n");

  EXPECT_NE(answer.body, "");
  EXPECT_EQ(head.read_answer(false).status, 400);
  EXPECT_TRUE(head.ends_cleanly()) << "no body after the head";
}

TEST_F(ServerTest, TakesWhatIsJustShortEnough) {
  serve(echo, small());

  EXPECT_EQ(client().ask(post("/", std::string(1'000, 'x'))).body.size(), 1'005U);
}

TEST_F(ServerTest, CutsAClientThatDribbles) {
  ServerSettings settings = small();
  settings.read_within = 50ms;
  serve(echo, settings);
  RawClient head = client();
  RawClient body = client();

  // A byte now and then must not gain time.
  body.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n");
  for (int i = 0; i < 800 && !(head.has_answer(1ms) && body.has_answer(1ms)); ++i) {
    head.send("G");
    body.send("x");
  }
  head.close_own_side();
  body.close_own_side();

  EXPECT_TRUE(is_refused(head, 408));
  EXPECT_TRUE(is_refused(body, 408));
}

TEST_F(ServerTest, ClosesIdleConnectionsWithoutAWord) {
  ServerSettings settings = small();
  settings.idle_for = 30ms;
  serve(echo, settings);
  RawClient silent = client();
  RawClient blank = client();
  RawClient asked = client();

  EXPECT_EQ(asked.ask(get("/")).status, 200);
  blank.send("\r\n");

  EXPECT_TRUE(silent.ends_cleanly());
  EXPECT_TRUE(blank.ends_cleanly());
  EXPECT_TRUE(asked.ends_cleanly());
}

TEST_F(ServerTest, DoesNotCountAnAnswerAsIdleness) {
  ServerSettings settings = small();
  settings.idle_for = 30ms;
  settings.read_within = 30ms;
  serve(held_.service(), settings);
  RawClient client = this->client();

  client.send(get("/"));
  auto [request, responder] = held_.take();
  // Whoever comes later and says nothing is closed meanwhile.
  EXPECT_TRUE(this->client().ends_cleanly());
  EXPECT_TRUE(this->client().ends_cleanly());
  std::move(responder).send({.body = "thought about"});

  EXPECT_EQ(client.read_answer().body, "thought about");
}

TEST_F(ServerTest, CutsAClientThatDoesNotReadItsAnswer) {
  ServerSettings settings = small();
  settings.write_within = 50ms;
  serve([](const Request&,
           Responder responder) { std::move(responder).send({.body = much(50'000'000)}); },
        settings);
  RawClient client = this->client();

  client.send(get("/"));

  EXPECT_TRUE(eventually([&] { return server_->connections() == 1; }));
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
  EXPECT_LT(client.read_to_end().size(), 50'000'000U);
}

TEST_F(ServerTest, TurnsAwayWhatIsTooMuch) {
  ServerSettings settings = small();
  settings.connections_max = 2;
  serve(echo, settings);
  RawClient first = client();
  RawClient second = client();
  EXPECT_EQ(first.ask(get("/")).status, 200);
  EXPECT_EQ(second.ask(get("/")).status, 200);

  RawClient third = client();
  third.send(get("/"));
  third.close_own_side();
  const RawAnswer answer = third.read_answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.header("Retry-After"), "");
  EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
  EXPECT_TRUE(third.ends_cleanly());
  EXPECT_EQ(server_->connections(), 2U);

  first.close();
  EXPECT_TRUE(eventually([&] { return server_->connections() == 1; }));
  EXPECT_EQ(client().ask(get("/")).status, 200);
}

TEST_F(ServerTest, SurvivesACrowd) {
  ServerSettings settings = small();
  settings.connections_max = 2;
  serve(echo, settings);
  std::vector<RawClient> crowd;

  for (int i = 0; i < 200; ++i) crowd.push_back(client());
  for (RawClient& one : crowd) one.close();

  EXPECT_TRUE(eventually([&] { return client().ask(get("/")).status == 200; }));
}

// What two programs might read differently: one request must not hide in another.
TEST_F(ServerTest, LetsNoRequestBeSmuggledIn) {
  std::atomic<int> served = 0;
  serve([&](const Request& request, Responder responder) {
    ++served;
    echo(request, std::move(responder));
  });
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
  const std::vector<std::string> attempts{
      head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
      head + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + hidden,
      head + "Content-Length: 0\r\nContent-Length: 33\r\n\r\n" + hidden,
      head + "Transfer-Encoding: xchunked\r\n\r\n" + hidden,
      head + "Transfer-Encoding: chunked, identity\r\n\r\n" + hidden,
      head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
      head + "X: y\r\n Transfer-Encoding: chunked\r\n\r\n" + hidden,
      head + "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
      head + "Transfer-Encoding: chunked\r\n\r\n1\nZ\r\n0\r\n\r\n" + hidden,
      head + "Transfer-Encoding: chunked\r\n\r\n1;x=\"\n\"\r\nZ\r\n0\r\n\r\n" + hidden,
      head + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n\r\n" + hidden,
      head + "Content-Length: 0x21\r\n\r\n" + hidden,
      "POST / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n" + hidden,
      "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
  };

  for (const std::string& attempt : attempts) {
    RawClient client = this->client();
    client.send(attempt);
    client.close_own_side();
    const RawAnswer answer = client.read_answer();
    EXPECT_TRUE(answer.status == 400 || answer.status == 501) << answer.status << "\n" << attempt;
    EXPECT_TRUE(client.ends_cleanly()) << attempt;
  }

  EXPECT_EQ(served, 0);
}

TEST_F(ServerTest, ShowsWhichMethodsThereAre) {
  serve();
  RawClient client = this->client();

  const RawAnswer answer = client.ask("TRACE / HTTP/1.1\r\nHost: h\r\n\r\n");

  EXPECT_EQ(answer.status, 405);
  EXPECT_THAT(answer.header("Allow"), testing::HasSubstr("GET, HEAD"));
}

}  // namespace
}  // namespace recourse::http
