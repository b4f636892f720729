#include <gtest/gtest.h>

#include "http/server_fixture.h"

namespace recourse::http {
namespace {

const Response kEvents{.headers = {{"Content-Type", "text/event-stream"}}};

class StreamTest : public ServerTest {
 protected:
  // Asks on the client, and begins the answer.
  std::shared_ptr<Stream> begin(RawClient& client, std::string_view request) {
    client.send(request);
    auto [asked, responder] = held_.take();
    return std::move(responder).stream(kEvents);
  }
};

TEST_F(StreamTest, ArrivesPieceByPiece) {
  serve(held_.service());
  RawClient client = this->client();

  const std::shared_ptr<Stream> stream = begin(client, get("/events"));
  const RawAnswer head = client.read_answer(false);
  EXPECT_EQ(head.header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(head.header("Content-Length"), "");
  EXPECT_EQ(head.header("Content-Type"), "text/event-stream");

  EXPECT_TRUE(stream->write("data: one\n\n"));
  EXPECT_EQ(client.read_through("one\n\n\r\n"), "b\r\ndata: one\n\n\r\n");
  EXPECT_TRUE(stream->write(""));
  EXPECT_TRUE(stream->write("two"));
  EXPECT_EQ(client.read_through("two\r\n"), "3\r\ntwo\r\n");
  stream->close();
  EXPECT_FALSE(stream->write("three"));

  EXPECT_EQ(client.read_through("0\r\n\r\n"), "0\r\n\r\n");
  client.send(get("/after"));
  std::move(held_.take().second).send({.body = "after"});
  EXPECT_EQ(client.read_answer().body, "after") << "the connection goes on";
}

TEST_F(StreamTest, MayBeWrittenBeforeItsHeadIsOut) {
  serve([](const Request&, Responder responder) {
    const std::shared_ptr<Stream> stream = std::move(responder).stream(kEvents);
    stream->write("one");
    stream->write("two");
  });

  EXPECT_EQ(client().ask(get("/")).body, "onetwo") << "and ends when it is dropped";
}

TEST_F(StreamTest, GoesToOldClientsUntilTheEnd) {
  serve([](const Request&, Responder responder) {
    const std::shared_ptr<Stream> stream = std::move(responder).stream(kEvents);
    stream->write("one");
    stream->write("two");
  });
  RawClient client = this->client();

  const RawAnswer answer = client.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");

  EXPECT_EQ(answer.body, "onetwo");
  EXPECT_EQ(answer.header("Transfer-Encoding"), "");
  EXPECT_EQ(answer.header("Connection"), "close");
}

TEST_F(StreamTest, IsOnlyAHeadToHead) {
  serve(held_.service());
  RawClient client = this->client();

  const std::shared_ptr<Stream> stream = begin(client, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");

  EXPECT_FALSE(stream->write("nobody asked"));
  EXPECT_EQ(client.read_answer(false).status, 200);
  client.send(get("/"));
  std::move(held_.take().second).send({.body = "next"});
  EXPECT_EQ(client.read_answer().body, "next");
}

TEST_F(StreamTest, NoticesThatItsReaderIsGone) {
  serve(held_.service());
  RawClient client = this->client();
  const std::shared_ptr<Stream> stream = begin(client, get("/"));
  client.read_answer(false);

  client.close();

  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; })) << "without a write";
  EXPECT_FALSE(stream->write("hello?"));
}

TEST_F(StreamTest, CutsAReaderThatIsTooSlow) {
  ServerSettings settings = on_a_free_port();
  settings.stream_bytes_max = 64'000;
  serve(held_.service(), settings);
  RawClient client = this->client();
  const std::shared_ptr<Stream> stream = begin(client, get("/"));
  const std::string piece(10'000, 'x');

  // The kernel's own buffers take some megabytes first.
  std::size_t written = 0;
  while (stream->write(piece) && written < 1'000'000'000) written += piece.size();

  EXPECT_LT(written, 1'000'000'000U);
  EXPECT_FALSE(stream->write("more"));
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(StreamTest, CutsAReaderThatStopsReading) {
  ServerSettings settings = on_a_free_port();
  settings.stream_bytes_max = 100'000'000;
  settings.write_within = 50ms;
  serve(held_.service(), settings);
  RawClient client = this->client();
  const std::shared_ptr<Stream> stream = begin(client, get("/"));

  EXPECT_TRUE(stream->write(much(50'000'000)));

  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
  EXPECT_FALSE(stream->write("more"));
}

TEST_F(StreamTest, WaitsForItsNextPieceAsLongAsItLikes) {
  ServerSettings settings = on_a_free_port();
  settings.idle_for = settings.read_within = settings.write_within = settings.answer_within = 20ms;
  serve(held_.service(), settings);
  RawClient client = this->client();
  const std::shared_ptr<Stream> stream = begin(client, get("/"));
  client.read_answer(false);

  // Whoever comes later and says nothing is closed meanwhile.
  EXPECT_TRUE(this->client().ends_cleanly());
  EXPECT_TRUE(this->client().ends_cleanly());

  EXPECT_TRUE(stream->write("late"));
  EXPECT_EQ(client.read_through("late\r\n"), "4\r\nlate\r\n");
}

TEST_F(StreamTest, EndsWithTheServer) {
  serve(held_.service());
  RawClient client = this->client();
  const std::shared_ptr<Stream> stream = begin(client, get("/"));
  EXPECT_TRUE(stream->write("last"));

  std::thread stopper([&] { server_->stop(10s); });
  const RawAnswer answer = client.read_answer();
  client.close();
  stopper.join();

  EXPECT_EQ(answer.body, "last");
  EXPECT_FALSE(stream->write("more"));
  server_.reset();
  EXPECT_FALSE(stream->write("still held"));
}

}  // namespace
}  // namespace recourse::http
