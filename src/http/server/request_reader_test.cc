#include "http/server/request_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::http {
namespace {

using Progress = RequestReader::Progress;

constexpr RequestReader::Limits kLimits{.header_bytes_max = 512, .body_bytes_max = 64};

void put(ReadBuffer& input, std::string_view text) {
  ASSERT_LE(text.size(), input.room().size());
  std::ranges::copy(text, input.room().begin());
  input.commit(text.size());
}

// What becomes of a request that comes at once: 0 when it is whole, -1 when more is wanted.
int status_of(std::string_view text) {
  ReadBuffer input(4096);
  RequestReader reader(kLimits);
  put(input, text);
  const Progress progress = reader.advance(input);
  if (progress == Progress::kRejected) return reader.rejection().status;
  return progress == Progress::kWhole ? 0 : -1;
}

std::string with(std::string_view headers, std::string_view body = "") {
  return "POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

TEST(RequestReader, ReadsARequest) {
  ReadBuffer input(4096);
  RequestReader reader(kLimits);
  put(input,
      "PATCH /a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-A:  b c \r\nContent-Length: 2\r\n\r\nxyGET");

  ASSERT_EQ(reader.advance(input), Progress::kWhole);
  const Head head = reader.take();

  EXPECT_EQ(head.request.method, Method::kPatch);
  EXPECT_THAT(head.request.path, testing::ElementsAre("a b"));
  EXPECT_EQ(head.request.parameter("c"), "d");
  EXPECT_EQ(head.request.headers.find("x-a"), "b c");
  EXPECT_EQ(head.request.body, "xy");
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(input.view(), "GET") << "what follows is the next one's";
}

TEST(RequestReader, KnowsWhoWantsToStay) {
  const auto stays = [](std::string_view text) {
    ReadBuffer input(4096);
    RequestReader reader(kLimits);
    put(input, text);
    EXPECT_EQ(reader.advance(input), Progress::kWhole) << text;
    return reader.take().keep_alive;
  };

  EXPECT_TRUE(stays("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(stays("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(RequestReader, RefusesWhateverLeavesTheEndOfTheBodyInDoubt) {
  EXPECT_EQ(status_of(with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n")), 400);
  EXPECT_EQ(status_of(with("Content-Length: 1\r\nContent-Length: 2\r\n")), 400);
  EXPECT_EQ(status_of(with("Content-Length: 1\r\nContent-Length: 1\r\n")), 400);
  EXPECT_EQ(status_of(with("Content-Length: 1, 1\r\n")), 400);
  for (const std::string_view length :
       {"+1", "-1", "1x", "0x1", "", " ", "1 1", "1.0", "99999999999999999999999"}) {
    EXPECT_EQ(status_of(with("Content-Length: " + std::string(length) + "\r\n")), 400) << length;
  }
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), 400);
  for (const std::string_view coding : {"gzip", "gzip, chunked", "chunked, identity", "xchunked",
                                        "identity", "chunked;q=1", "\"chunked\"", ""}) {
    EXPECT_EQ(status_of(with("Transfer-Encoding: " + std::string(coding) + "\r\n")), 501) << coding;
  }
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of(with("Transfer-Encoding: CHUNKED\r\n", "0\r\n\r\n")), 0);
}

TEST(RequestReader, RefusesHeadsThatOthersMightReadDifferently) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: h\n\n"), 400) << "bare LF";
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\n\r\n"), 400);
  EXPECT_EQ(status_of(with("A: b\rC: d\r\n")), 400) << "bare CR";
  EXPECT_EQ(status_of(with("A: b\r\n folded\r\n")), 400);
  EXPECT_EQ(status_of(with("A: b\r\n\tfolded\r\n")), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n Host: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of(with("Content-Length : 1\r\n")), 400);
  EXPECT_EQ(status_of(with("Content\tLength: 1\r\n")), 400);
  EXPECT_EQ(status_of(with(": 1\r\n")), 400);
  EXPECT_EQ(status_of(with("no colon\r\n")), 400);
  EXPECT_EQ(status_of(with(std::string("A: b\0c\r\n", 8))), 400);
  EXPECT_EQ(status_of(with("A: b\x01\r\n")), 400);
  EXPECT_EQ(status_of(with("A: \x7f\r\n")), 400);
  EXPECT_EQ(status_of(with("B\xc3\xa4r: c\r\n")), 400);
  EXPECT_EQ(status_of(with("A: b\xc3\xa4r\tc\r\n")), 0) << "old clients send such values";
}

TEST(RequestReader, RefusesRequestLinesThatAreNone) {
  for (const std::string_view line :
       {"GET /", "GET", "GET / HTTP/1.1 ", "GET  / HTTP/1.1", "GET / a HTTP/1.1", " GET / HTTP/1.1",
        "GET / http/1.1", "GET / HTTP/11", "G@T / HTTP/1.1", "GET /a\tb HTTP/1.1",
        "GET http://h/ HTTP/1.1", "GET h:80 HTTP/1.1", "GET * HTTP/1.1", "GET /%zz HTTP/1.1",
        "GET /\xc3\xa4 HTTP/1.1", "\x16\x03\x01"}) {
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: h\r\n\r\n"), 400) << line;
  }
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.2\r\nHost: h\r\n\r\n"), 505);
}

TEST(RequestReader, KnowsItsMethodsAndTheHost) {
  EXPECT_EQ(status_of("TRACE / HTTP/1.1\r\nHost: h\r\n\r\n"), 405);
  EXPECT_EQ(status_of("CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n"), 405);
  EXPECT_EQ(status_of("BREW / HTTP/1.1\r\nHost: h\r\n\r\n"), 501);
  EXPECT_EQ(status_of("get / HTTP/1.1\r\nHost: h\r\n\r\n"), 501);
  EXPECT_EQ(status_of("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(status_of(with("Expect: the worst\r\n")), 417);
}

TEST(RequestReader, RefusesWhatIsTooLongAsSoonAsItIs) {
  const std::string many(600, 'a');

  EXPECT_EQ(status_of("GET /" + many), 414);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nA: " + many), 431);
  EXPECT_EQ(status_of("GET /" + many + " HTTP/1.1\r\nHost: h\r\n\r\n"), 414);
  EXPECT_EQ(status_of(with("A: " + many + "\r\n")), 431);
  EXPECT_EQ(status_of(with("Content-Length: 65\r\n")), 413);
  EXPECT_EQ(status_of(with("Content-Length: 64\r\n")), -1);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n", "41\r\n")), 413);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n", "40\r\n")), -1);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n", "1\r\na\r\n40")), 413);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n", "ffffffffffffffffff\r\n")), 413);
}

TEST(RequestReader, RefusesChunksThatAreNotFramedRight) {
  for (const std::string_view body :
       {"\r\n", "x\r\n", "-1\r\n", "0x1\r\na\r\n", "1\na\r\n", "1\ra", "1 \r\n", " 1\r\n",
        "1\r\nab", "1\r\na\n", "1;\n", "1;a=\"\nb\"\r\n", "0\r\n\n", "0\r\nA: b\n",
        "0\r\n a: b\r\n", "0\r\n:\r\n", "00000000000000001\r\n"}) {
    EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n", body)), 400) << body;
  }
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n", "1;a=b\r\nx\r\n0\r\nA: b\r\n\r\n")),
            0);
}

TEST(RequestReader, IgnoresTrailers) {
  ReadBuffer input(4096);
  RequestReader reader(kLimits);
  put(input, with("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\nContent-Length: 9\r\n\r\n"));

  ASSERT_EQ(reader.advance(input), Progress::kWhole);

  EXPECT_EQ(reader.take().request.headers.find("Content-Length"), std::nullopt);
}

TEST(RequestReader, AsksForTheBodyOnlyWhereSomebodyWaitsToBeAsked) {
  ReadBuffer input(4096);
  RequestReader reader(kLimits);

  put(input, with("Expect: 100-Continue\r\nContent-Length: 2\r\n"));
  EXPECT_EQ(reader.advance(input), Progress::kSaysContinue);
  EXPECT_EQ(reader.advance(input), Progress::kNeedsMore);
  put(input, "ab");
  EXPECT_EQ(reader.advance(input), Progress::kWhole);
  reader.take();
  put(input, with("Expect: 100-continue\r\nContent-Length: 2\r\n", "ab"));
  EXPECT_EQ(reader.advance(input), Progress::kWhole);
}

// One request after another, cut anywhere: the same requests come out.
RC_GTEST_PROP(RequestReader, DoesNotCareHowTheBytesWereCut, ()) {
  const std::string stream = "\r\nPOST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nfirst" +
                             std::string("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n") +
                             "POST /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "3;x=y\r\nthi\r\n2\r\nrd\r\n0\r\nT: u\r\n\r\n" +
                             "POST /4 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "0\r\n\r\n";
  ReadBuffer input(1024);
  RequestReader reader(kLimits);
  std::vector<std::string> bodies;

  for (std::string_view rest = stream; !rest.empty();) {
    const auto bytes =
        *rc::gen::inRange<std::size_t>(1, std::min<std::size_t>(rest.size(), 40) + 1);
    put(input, rest.substr(0, bytes));
    rest.remove_prefix(bytes);
    while (reader.advance(input) == Progress::kWhole) bodies.push_back(reader.take().request.body);
    RC_ASSERT(reader.advance(input) != Progress::kRejected);
  }

  RC_ASSERT(bodies == (std::vector<std::string>{"first", "", "third", ""}));
}

}  // namespace
}  // namespace recourse::http
