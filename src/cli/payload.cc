#include "cli/payload.h"

#include <boost/json.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "http/base64.h"

namespace recourse::cli {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
// The server allows 32, and the payload lies inside the body.
constexpr std::size_t kDepthMax = 31;

// With spaces around it, the server could not tell which are the payload's own.
bool can_stand_raw(std::string_view bytes) {
  if (bytes.empty() || kSpace.find(bytes.front()) != std::string_view::npos ||
      kSpace.find(bytes.back()) != std::string_view::npos) {
    return false;
  }
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = kDepthMax;
  (void)boost::json::parse(bytes, error, {}, options);
  return !error;
}

}  // namespace

std::string payload_member(std::string_view bytes) {
  if (can_stand_raw(bytes)) return "\"payload\":" + std::string(bytes);
  return "\"payload_base64\":\"" + http::to_base64(bytes) + "\"";
}

Result<std::string> read_payload(const PayloadFlags& flags, std::istream& in) {
  if (!flags.text.empty() && !flags.file.empty()) {
    return fail(ErrorCode::kInvalid, "give --payload or --payload-file, not both");
  }
  if (flags.file.empty()) return flags.text;
  if (flags.file == "-") return std::string(std::istreambuf_iterator<char>(in), {});
  std::ifstream file(flags.file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    return fail(ErrorCode::kInvalid,
                "the file " + shown(flags.file) + " cannot be read: correct --payload-file");
  }
  return bytes;
}

void add_payload_flags(CLI::App& command, PayloadFlags& flags) {
  command.add_option("--payload", flags.text, "What the handler gets, byte for byte")
      ->type_name("TEXT");
  command.add_option("--payload-file", flags.file, "The same from a file, or - for standard input")
      ->type_name("FILE");
}

std::string with_payload(const boost::json::object& body, std::string_view payload) {
  std::string text = boost::json::serialize(body);
  text.pop_back();
  if (text.size() > 1) text += ',';
  return text + payload_member(payload) + "}";
}

}  // namespace recourse::cli
