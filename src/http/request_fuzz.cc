#include "http/request_fuzz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "http/raw_client.h"

namespace recourse::http {
namespace {

constexpr std::array<std::string_view, 8> kRequests{
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST /api/v1/tasks?x=1&y=%20 HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nhello world",
    "PUT /a%2Fb HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;a=\"b\"\r\nhello\r\n6\r\n world\r\n0\r\nT: u\r\n\r\n",
    "HEAD /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok",
    "DELETE /t HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, x\r\nAccept: */*\r\n\r\n",
    "\r\nPATCH /p HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
};

// What parsers trip over.
constexpr std::array<std::string_view, 22> kPieces{"\r\n",
                                                   "\n",
                                                   "\r",
                                                   "\r\n\r\n",
                                                   " ",
                                                   "\t",
                                                   ":",
                                                   "%",
                                                   "%00",
                                                   "..",
                                                   "/",
                                                   "?",
                                                   "0\r\n\r\n",
                                                   "HTTP/1.1",
                                                   "chunked",
                                                   "ffffffffffffffff",
                                                   "-1",
                                                   "\x80\xff",
                                                   "Transfer-Encoding: chunked\r\n",
                                                   "Content-Length: 5\r\n",
                                                   "Content-Length: 18446744073709551616\r\n",
                                                   "Host: other\r\n"};

std::size_t below(Rng& rng, std::size_t bound) {
  return static_cast<std::size_t>(rng.between(0, bound - 1));
}

void mutate(std::string& text, Rng& rng) {
  if (text.empty()) text = "x";
  const std::size_t at = below(rng, text.size());
  const std::size_t some = 1 + below(rng, std::min<std::size_t>(text.size() - at, 20));
  switch (below(rng, 8)) {
    case 0: text[at] = static_cast<char>(rng.between(0, 255)); break;
    case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(rng, 8))); break;
    case 2: text.erase(at, some); break;
    case 3: text.insert(at, text.substr(at, some)); break;
    case 4: text.insert(at, kPieces.at(below(rng, kPieces.size()))); break;
    case 5: text.resize(at); break;
    case 6: text.insert(at, std::string(1 + below(rng, 3'000), text[at])); break;
    default: text.insert(at, 1, static_cast<char>(rng.between(0, 255))); break;
  }
}

bool is_expected(std::string_view status) {
  constexpr std::array<std::string_view, 11> kExpected{"100", "200", "204", "400", "405", "413",
                                                       "414", "417", "431", "501", "505"};
  return std::ranges::find(kExpected, status) != kExpected.end();
}

// Every status is one that is expected; no body here holds "HTTP/1.1 " before a digit.
bool is_proper(std::string_view answers) {
  constexpr std::string_view kAnswerBegins = "HTTP/1.1 ";
  if (answers.empty()) return true;
  if (!answers.starts_with(kAnswerBegins)) return false;
  for (std::size_t at = 0; at != std::string_view::npos; at = answers.find(kAnswerBegins, at + 1)) {
    const std::string_view status = answers.substr(at + kAnswerBegins.size(), 3);
    const bool is_status = !status.empty() && status[0] >= '0' && status[0] <= '9';
    if (is_status && !is_expected(status)) return false;
  }
  return true;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= ' ' && byte < 0x7f && c != '\\' ? std::string(1, c)
                                                   : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace

std::string spoiled_request(Rng& rng) {
  std::string text;
  for (std::size_t requests = 1 + below(rng, 3); requests > 0; --requests) {
    text += kRequests.at(below(rng, kRequests.size()));
  }
  for (std::size_t changes = 1 + below(rng, 4); changes > 0; --changes) mutate(text, rng);
  return text;
}

std::optional<std::string> fuzz_server(std::uint16_t port, int count, std::uint64_t seed) {
  Rng rng(seed);
  for (int i = 0; i < count; ++i) {
    const std::string request = spoiled_request(rng);
    RawClient client(port);
    if (!client.is_connected()) return fmt::format("no connection at number {}", i);
    // In two pieces, sometimes: a parser that waits for more must find where it was.
    const std::size_t cut = below(rng, 4) == 0 ? below(rng, request.size() + 1) : request.size();
    client.send(std::string_view(request).substr(0, cut));
    client.send(std::string_view(request).substr(cut));
    client.close_own_side();
    const std::string answers = client.read_to_end();
    if (client.was_reset() || !is_proper(answers)) {
      return fmt::format("number {} of seed {}{}:\n{}\nwas answered:\n{}", i, seed,
                         client.was_reset() ? ", reset" : "", escaped(request), escaped(answers));
    }
  }
  if (RawClient(port).ask(get("/")).status != 200) return "it does not serve any more";
  return std::nullopt;
}

}  // namespace recourse::http
