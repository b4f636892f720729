#include "http/server/head.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <string>
#include <utility>

#include "http/server/target.h"

namespace recourse::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using beast::http::field;
using beast::http::verb;

constexpr std::size_t kUsualFields = 8;

std::string_view standard(beast::string_view text) { return {text.data(), text.size()}; }

// Beast's parser without its message: fields go where they will stay.
class HeadParser final : public beast::http::basic_parser<true> {
 public:
  Head head = {};
  verb method = verb::unknown;
  std::string target;
  std::string expectation;
  std::string encoding;
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;
  bool length_is_list = false;

 private:
  void on_request_impl(verb the_method, beast::string_view, beast::string_view the_target,
                       int version, error_code&) override {
    method = the_method;
    target = standard(the_target);
    head.is_old = version == 10;
    head.request.headers.reserve(kUsualFields);
  }

  void on_field_impl(field known, beast::string_view name, beast::string_view value,
                     error_code&) override {
    if (known == field::host) ++hosts;
    if (known == field::content_length) {
      ++lengths;
      length_is_list = standard(value).find(',') != std::string_view::npos;
    }
    if (known == field::transfer_encoding) {
      ++encodings;
      encoding = standard(value);
    }
    if (known == field::expect) expectation = standard(value);
    head.request.headers.add(std::string(standard(name)), std::string(standard(value)));
  }

  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, error_code&) override {
    return 0;
  }
  void on_finish_impl(error_code&) override {}
};

// Where a body ends must be beyond doubt.
std::optional<Rejection> check_framing(const HeadParser& parser) {
  if (parser.lengths > 1 || parser.length_is_list) return bad("send Content-Length once");
  if (parser.encodings == 0) return std::nullopt;
  if (parser.lengths > 0) return bad("send Content-Length or Transfer-Encoding, not both");
  if (parser.head.is_old) return bad("HTTP/1.0 knows no Transfer-Encoding; send Content-Length");
  if (parser.encodings > 1) return bad("send Transfer-Encoding once");
  if (!is_same_name(parser.encoding, "chunked")) {
    return Rejection{.status = 501, .detail = "the only Transfer-Encoding known here is chunked"};
  }
  return std::nullopt;
}

std::optional<Rejection> check_host(const HeadParser& parser) {
  if (parser.hosts > 1) return bad("send Host once");
  if (parser.hosts == 0 && !parser.head.is_old) return bad("HTTP/1.1 wants a Host header");
  return std::nullopt;
}

std::optional<Method> known_method(verb method) {
  switch (method) {
    case verb::get: return Method::kGet;
    case verb::head: return Method::kHead;
    case verb::post: return Method::kPost;
    case verb::put: return Method::kPut;
    case verb::patch: return Method::kPatch;
    case verb::delete_: return Method::kDelete;
    case verb::options: return Method::kOptions;
    default: return std::nullopt;
  }
}

std::optional<Rejection> take_method(verb method, Head& head) {
  if (const std::optional<Method> known = known_method(method)) {
    head.request.method = *known;
    return std::nullopt;
  }
  const std::string detail = "the methods here are " + std::string(methods_there_are());
  // Not for any resource of ours; whereas nobody knows what the others would mean.
  if (method == verb::trace || method == verb::connect) {
    return Rejection{.status = 405, .detail = detail, .allow = std::string(methods_there_are())};
  }
  return Rejection{.status = 501, .detail = detail};
}

std::optional<Rejection> take_target(std::string_view target, Head& head) {
  if (target == "*" && head.request.method == Method::kOptions) {
    head.asks_whole_server = true;
    return std::nullopt;
  }
  Result<Target> parsed = parse_target(target);
  if (!parsed) return bad(parsed.error().message);
  head.request.path = std::move(parsed->path);
  head.request.query = std::move(parsed->query);
  return std::nullopt;
}

std::optional<Rejection> take_expectation(std::string_view expectation, Head& head) {
  if (expectation.empty() || head.is_old) return std::nullopt;
  if (!is_same_name(expectation, "100-continue")) {
    return Rejection{.status = 417, .detail = "the only Expect known here is 100-continue"};
  }
  head.expects_continue = true;
  return std::nullopt;
}

}  // namespace

std::string_view methods_there_are() { return "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"; }

std::variant<Head, Rejection> read_head(std::string_view text) {
  HeadParser parser;
  parser.skip(true);  // the body is ours to read
  parser.header_limit(std::numeric_limits<std::uint32_t>::max());
  error_code error;
  parser.put(boost::asio::const_buffer(text.data(), text.size()), error);
  // First: Beast complains of some of it too, in other words.
  if (std::optional<Rejection> refused = check_framing(parser)) return *std::move(refused);
  if (error || !parser.is_done()) return bad("the head cannot be read: " + error.message());
  Head& head = parser.head;
  head.body_bytes = parser.content_length().value_or(0);
  head.is_chunked = parser.chunked();
  head.keep_alive = parser.keep_alive();
  if (std::optional<Rejection> refused = check_host(parser)) return *std::move(refused);
  if (std::optional<Rejection> refused = take_method(parser.method, head)) {
    return *std::move(refused);
  }
  if (std::optional<Rejection> refused = take_target(parser.target, head)) {
    return *std::move(refused);
  }
  if (std::optional<Rejection> refused = take_expectation(parser.expectation, head)) {
    return *std::move(refused);
  }
  return std::move(head);
}

}  // namespace recourse::http
