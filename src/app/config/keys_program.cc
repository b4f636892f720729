// The keys of the program itself: how it listens, whom it trusts, where it keeps what it knows.
#include <fmt/format.h>

#include <charconv>

#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"
#include "base/text.h"
#include "store/limits.h"
#include "task/record.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

// Paths are put behind it, and begin with a slash.
Place<std::string> base_url(ServerConfig& server) {
  return {[&server] { return std::optional(server.base_url); },
          [&server](std::string url) {
            while (url.ends_with('/')) url.pop_back();
            server.base_url = std::move(url);
          }};
}

Keys server_keys(ServerConfig& server) {
  http::ServerSettings& http = server.http;
  return {
      text("listen", at(http.listen),
           {"Where to listen: HOST:PORT or [::1]:PORT; port 0 takes a free one."}, check_listen),
      text("tls.certificate", inside(http.tls, &http::TlsFiles::certificate),
           {"A PEM file with the certificate and its chain; with it the server speaks HTTPS.",
            Reload::kRestart, "/etc/recourse/tls.crt"},
           check_not_empty),
      text("tls.key", inside(http.tls, &http::TlsFiles::key),
           {"The PEM file with the certificate's key.", Reload::kRestart, "/etc/recourse/tls.key"},
           check_not_empty),
      integer("threads", at(http.threads), 1, 64,
              {"Threads that read requests and write answers."}),
      count("connections", at(http.connections_max), 1, 100'000,
            {"Connections at once, at most; beyond them 503 is answered."}),
      text("base-url", base_url(server),
           {"How the server is reached from outside, for links and callbacks; as it listens where "
            "not given.",
            Reload::kRestart, "https://recourse.example.com"},
           check_url),
      list("trusted-hosts", at(server.trusted_hosts),
           {"Host names of requests that are answered, besides those of listen and base-url.",
            Reload::kRestart, "[recourse.internal]"},
           check_not_empty),
      duration("read-timeout", at(http.read_within), 100ms, 10min,
               {"From the first byte of a request to its last."}),
      duration("write-timeout", at(http.write_within), 100ms, 10min,
               {"For a whole answer; of a stream, for each piece."}),
      duration("idle-timeout", at(http.idle_for), 100ms, 1h,
               {"How long a connection may wait between two requests."}),
      duration("answer-timeout", at(http.answer_within), 100ms, 1h,
               {"What has not been answered by then gets 503."}),
  };
}

Keys token_keys(TokenConfig& token) {
  constexpr std::size_t kTokenBytesMin = 16;
  return {
      choice("role", at(token.role), api::kGivenRoles,
             {"What it may do: viewer reads, operator also steers tasks, admin everything."}),
      text("tenant", at(token.tenant),
           {"The one tenant it is for; all where not given.", Reload::kRestart, "acme"}),
      required(secret("secret", at(token.secret), kTokenBytesMin,
                      {"Where the token is kept; at least 16 bytes, better 32 random ones.",
                       Reload::kRestart, "env:RECOURSE_OPS_TOKEN"})),
  };
}

Key tokens_key(std::map<std::string, TokenConfig>& tokens) {
  Items items{.listed = true, .max = 1'000};
  items.add = [&tokens](const std::string& name) { return token_keys(tokens[name]); };
  items.all = [&tokens] {
    std::vector<std::pair<std::string, Keys>> all;
    for (auto& [name, token] : tokens) all.emplace_back(name, token_keys(token));
    return all;
  };
  items.refuse_name = check_name;
  return {.path = "tokens",
          .type = "a list of tokens, each with a name",
          .about = {"Who may use the API; the name is what the audit shows."},
          .items = std::make_shared<const Items>(std::move(items))};
}

// 0-255
Key shards_key(store::ShardRange& shards) {
  Key key{.path = "shards",
          .type = "a range of shards such as 0-127",
          .allowed = fmt::format("within 0-{}", store::kShards - 1),
          .about = {"Which of the 256 shards this node runs, its own submits included."}};
  key.put = [&shards](const Given& value, const Outside&) {
    store::ShardRange range{-1, -1};
    const char* const end = value.text.data() + value.text.size();
    const auto first = std::from_chars(value.text.data(), end, range.first);
    const bool dashed = first.ec == std::errc{} && first.ptr != end && *first.ptr == '-';
    const auto last =
        dashed ? std::from_chars(first.ptr + 1, end, range.last) : std::from_chars_result{};
    const bool whole = dashed && last.ec == std::errc{} && last.ptr == end;
    if (!whole || range.first < 0 || range.last < range.first || range.last >= store::kShards) {
      return fmt::format("must be a range of shards within 0-{} such as 0-127, not {}",
                         store::kShards - 1, shown(value.text));
    }
    shards = range;
    return std::string();
  };
  key.show = [&shards] { return fmt::format("{}-{}", shards.first, shards.last); };
  key.compared = key.show;
  return key;
}

Keys node_keys(engine::NodeSettings& node) {
  const auto check_length = [](std::string_view name) { return check_name(name); };
  return {
      text("name", at(node.name),
           {"How this node is called, for people; host and process where not given.",
            Reload::kRestart, "node-a"},
           check_length),
      shards_key(node.shards),
      count("hold-tasks", at(node.hold.tasks), 1, 100'000'000,
            {"Tasks of the store that this node holds, at most; no more than "
             "retry.wheel.max-pending-timeouts."}),
      size("hold-bytes", at(node.hold.bytes), kMiB, std::size_t{1} << 40,
           {"Their payloads, at most."}),
      count("ingest-waiting", at(node.ingest.waiting), 1, 10'000'000,
            {"Submits that wait to be written; beyond them callers are told to come back."}),
      size("ingest-bytes", at(node.ingest.waiting_bytes), kMiB, std::size_t{1} << 40,
           {"Their payloads, at most."}),
      duration("no-handler-after", at(node.no_handler_after), 1s, kLongestWait,
               {"A kind that no live node has handled for this long is nobody's: its tasks come "
                "before a person."}),
  };
}

Keys limits_keys(LimitsConfig& limits, http::ServerSettings& http) {
  return {
      size("payload", at(limits.payload_bytes), 1, task::kPayloadBytesMax, {"A task's payload."}),
      size("body", at(http.body_bytes_max), kKiB, 64 * kMiB, {"A request's body."}),
      size("header", at(http.header_bytes_max), kKiB, 64 * kKiB, {"A request's head."}),
      size("stream", at(http.stream_bytes_max), kKiB, 64 * kMiB,
           {"What may wait to be written on one stream; a client that reads slower is cut off."}),
      count("batch", at(limits.batch), 1, 1'000, {"Tasks of one request."}),
  };
}

}  // namespace

Keys program_keys(Config& config) {
  Keys keys;
  append(keys, "server", server_keys(config.server));
  append(keys, "auth",
         {choice("required", at(config.auth.required), kAllAuthRequired,
                 {"Whether requests need a token; auto: unless the server listens on this machine "
                  "only and has no tokens."}),
          tokens_key(config.auth.tokens)});
  append(keys, "store",
         {store_url("url", at(config.store.url),
                    {"sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or "
                     "memory:; SQLite in data-dir where not given. With a password: env:NAME or "
                     "file:PATH.",
                     Reload::kRestart, "env:RECOURSE_STORE_URL"}),
          text("data-dir", at(config.store.data_dir), {"Where files of the server's own go."},
               check_not_empty)});
  append(keys, "node", node_keys(config.node));
  append(keys, "log",
         {choice("level", at(config.log.level), kAllLogLevels,
                 {"The least severe lines that are written.", Reload::kNow}),
          choice("format", at(config.log.format), kAllLogFormats,
                 {"auto is text on a terminal and JSON lines otherwise."})});
  append(keys, "shutdown",
         {duration("limit", at(config.shutdown_limit), 0us, 1h,
                   {"How long a stop waits for attempts under way before it cuts them off.",
                    Reload::kNow})});
  append(keys, "limits", limits_keys(config.limits, config.server.http));
  append(keys, "retention",
         {duration("finished", at(config.retention.standard), 1s, kLongestWait,
                   {"How long finished tasks are kept; failures stay until a person decides."})});
  return keys;
}

}  // namespace recourse::app
