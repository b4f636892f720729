#include "app/running_server.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "api/bulk_jobs.h"
#include "api/feed.h"
#include "api/figures.h"
#include "api/gate.h"
#include "api/lease_line.h"
#include "api/service.h"
#include "api/token_secret.h"
#include "app/alerts.h"
#include "app/degrade_door.h"
#include "app/guard_door.h"
#include "app/happenings_log.h"
#include "app/janitor.h"
#include "app/kinds.h"
#include "app/listening.h"
#include "app/message_door.h"
#include "app/notifications.h"
#include "app/pulse.h"
#include "app/version.h"
#include "base/clock.h"
#include "base/process_name.h"
#include "base/ulid_source.h"
#include "degrade/log_lines.h"
#include "embed/guard_notice.h"
#include "embed/open_store.h"
#include "http/client.h"
#include "message/log_lines.h"

namespace recourse::app {
namespace {

constexpr Duration kPurgeEvery = std::chrono::minutes(1);
// Proxies close what is silent for a minute, or half of one.
constexpr Duration kPulseEvery = std::chrono::seconds(15);
// Requests under way get this long of the stop's limit.
constexpr Duration kRequestsEndWithin = std::chrono::seconds(5);
// And messages to people and from brokers; what waits for them is told again by whoever is there
// next.
constexpr Duration kMessagesEndWithin = std::chrono::seconds(5);
constexpr engine::ExecutorSettings kApiThreads{
    .core_threads = 4, .max_threads = 16, .queue = 1'000};

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::vector<api::FixedToken> fixed_tokens(const Config& config) {
  std::vector<api::FixedToken> tokens;
  for (const auto& [name, token] : config.auth.tokens) {
    api::Identity identity{.name = name, .role = token.role};
    if (!token.tenant.empty()) identity.tenant = task::Tenant(token.tenant);
    tokens.push_back({std::move(identity), api::sha256_of(token.secret.reveal())});
  }
  return tokens;
}

engine::NodeSettings node_settings(const Config& config, bool exclusive) {
  engine::NodeSettings settings = config.node;
  settings.exclusive_store = exclusive;
  if (settings.name.empty()) settings.name = process_name();
  return settings;
}

// As many as the engine's own calls at once need.
std::size_t connections_for(const engine::NodeSettings& node) {
  return static_cast<std::size_t>(node.ingest.calls + node.apply_calls) + 4;
}

class Server final : public RunningServer {
 public:
  Server(const Config& config, Log& log) : config_(config), log_(log) {}
  ~Server() override {
    (void)stop(Duration::zero());
    if (messages_) messages_->join();
  }

  Result<> open(const Environment& environment) {
    auto store = embed::open_store(config_.store.url.reveal(), clock_, log_,
                                   connections_for(config_.node), config_.retention);
    if (!store) return fail(store.error());
    store_ = *std::move(store);
    auto client = http::Client::open({});
    if (!client) return fail(client.error());
    client_ = *std::move(client);
    node_ = std::make_unique<engine::Node>(*store_.opened, clock_, log_,
                                           node_settings(config_, store_.exclusive), random_seed());
    auto messages = MessageDoor::open(
        config_, {.node = *node_,
                  .opened = *store_.opened,
                  .ids = ids_,
                  .log = log_,
                  .decided = [this](const engine::Moved& moved) { happened(moved); }});
    if (!messages) return fail(messages.error());
    messages_ = *std::move(messages);
    Result<> registered =
        register_kinds(config_, environment, *node_, *client_, clock_, *messages_, log_);
    if (!registered) return registered;
    registered = register_cleaning(config_, *node_, *store_.opened, clock_, log_);
    if (!registered) return registered;
    if (Result<> tells = make_notifications(); !tells) return tells;
    node_->listen([this](const engine::Happening& happening) { happened(happening); });
    tokens_.emplace(store_.opened->records(), ids_, clock_, fixed_tokens(config_));
    if (Result<> allowed = check_access(); !allowed) return allowed;
    return open_guards();
  }

  Result<> serve() {
    auto recorder = open_recorder(
        config_, {.node = *node_, .reader = store_.opened->reader(), .clock = clock_, .log = log_});
    if (!recorder) return fail(recorder.error());
    recorder_ = *std::move(recorder);
    if (Result<> started = node_->start(); !started) return started;
    leases_.emplace(*store_.opened, node_->kinds(), random_seed());
    lease_line_.emplace(*leases_, store_.opened->reader(), clock_);
    bulk_.emplace(*store_.opened, ids_, clock_, log_, [this] {
      node_->hint_requests();
      node_->hint_work();
      lease_line_->nudge();
    });
    creator_.emplace(store_.opened->creates(), ids_,
                     create::Creator::Settings{.enabled = config_.create_enabled});
    janitor_.emplace(*store_.opened, log_, kPurgeEvery);
    pulse_.emplace(kPulseEvery, [this] { feed_.keep_alive(); });
    gate_.emplace(api::GateSettings{.token_required = token_required_, .hosts = hosts_of(config_)},
                  *tokens_, clock_);
    desk_.emplace(api::Desk{
        .node = *node_,
        .opened = *store_.opened,
        .leases = *leases_,
        .ids = ids_,
        .clock = clock_,
        .log = log_,
        .pool = pool_,
        .tokens = *tokens_,
        .token_need = token_need(),
        .bulk = *bulk_,
        .feed = feed_,
        .figures = figures_,
        .happened = [this](const engine::Happening& happening) { happened(happening); },
        .lease_line = *lease_line_,
        .notifier = notifications_->notifier(),
        .channels = channel_cards_of(config_.notify),
        .alerts = alerts_of(config_.notify),
        .kinds = cards_of(config_),
        .schedules = schedule_cards_of(config_),
        .degrade = {.recorder = recorder_.get(),
                    .kinds = degrade_kinds_of(config_),
                    .first_retry_after = config_.degrade.first_retry_after,
                    .clean_after = config_.degrade.clean_after},
        .messages = message_desk(),
        .guards = guards_.get(),
        .creator = *creator_,
        .backoffs = policy::BackoffRegistry().names(),
        .limits = {.payload_bytes = config_.limits.payload_bytes, .batch = config_.limits.batch},
        .version = std::string(kVersion)});
    auto service = api::make_service(*desk_, *gate_);
    if (!service) return fail(service.error());
    auto http =
        http::Server::start(config_.server.http, *std::move(service), api::refuse_request, log_);
    if (!http) return fail(http.error());
    http_ = *std::move(http);
    notifications_->begin();
    if (guards_) guards_->start();
    messages_->start();
    alerts_.start(
        *node_, *store_.opened,
        [this](notify::Notice notice, notify::Ended ended) {
          notifications_->tell(std::move(notice), std::move(ended));
        },
        sayer(), ids_, clock_, log_);
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override { return http_->port(); }
  [[nodiscard]] std::string url() const override { return url_of(config_, port()); }

  [[nodiscard]] std::uint64_t turns() override { return node_->turns(); }

  engine::Stopped stop(Duration limit) override {
    if (!node_) return {};
    if (guards_) guards_->close();
    // What brokers deliver from here on is for others.
    if (messages_) messages_->stop(std::min(limit, kMessagesEndWithin));
    // The node first: it is red on /readyz from here on, and says no to new submits, while those
    // who wait for an answer still get it.
    const engine::Stopped stopped = node_->stop(limit);
    alerts_.stop();
    if (notifications_) notifications_->stop(std::min(limit, kMessagesEndWithin));
    alerts_.record_told();
    if (guards_) guards_->stop(std::min(limit, kMessagesEndWithin));
    // Workers who wait for work would be waited for.
    if (lease_line_) lease_line_->close();
    if (http_) http_->stop(std::min(limit, kRequestsEndWithin));
    return stopped;
  }

 private:
  // On the engine's thread, which waits for nothing; on those of the API, for what workers report,
  // and of the message door.
  void happened(const engine::Happening& happening) {
    notifications_->happened(happening);
    alerts_.happened(happening);
    figures_.happened(happening);
    feed_.tell(happening, clock_.now());
    log_happening(log_, happening);
    const auto* moved = std::get_if<engine::Moved>(&happening);
    if (moved == nullptr) return;
    if (is_degrade_kind(moved->kind)) degrade::log_moved(log_, *moved);
    if (is_message_kind(moved->kind)) message::log_moved(log_, *moved);
  }
  [[nodiscard]] bool is_degrade_kind(const task::Kind& kind) const {
    const auto found = config_.kinds.find(kind.value);
    return found != config_.kinds.end() && found->second.degrade;
  }

  [[nodiscard]] bool is_message_kind(const task::Kind& kind) const {
    const auto found = config_.kinds.find(kind.value);
    return found != config_.kinds.end() && found->second.message;
  }

  [[nodiscard]] api::MessageDesk message_desk() const {
    return {.kinds = message_kinds_of(config_),
            .keep_processed = config_.messages.keep_processed,
            .keep_ignored = config_.messages.keep_ignored,
            .sources = [this] { return messages_->sources(); }};
  }

  // Who tells people, and where they see a task.
  [[nodiscard]] notify::Sayer sayer() const {
    const std::string& base = config_.server.base_url;
    return {.node = node_settings(config_, store_.exclusive).name,
            .link = base.empty() ? "" : base + "/api/v1/tasks/"};
  }

  Result<> make_notifications() {
    auto made = Notifications::make(config_.notify, {.opened = *store_.opened,
                                                     .client = *client_,
                                                     .ids = ids_,
                                                     .clock = clock_,
                                                     .log = log_,
                                                     .sayer = sayer()});
    if (!made) return fail(made.error());
    notifications_ = *std::move(made);
    return {};
  }

  Result<> open_guards() {
    auto opened = open_guard_door(
        config_,
        {.node = *node_,
         .opened = *store_.opened,
         .ids = ids_,
         .clock = clock_,
         .log = log_,
         .tell =
             [this, node = sayer().node](const guard::Reminder& reminder, guard::Told told) {
               embed::tell(notifications_->notifier(), node, reminder, std::move(told));
             }},
        *client_);
    if (!opened) return fail(opened.error());
    guards_ = *std::move(opened);
    return {};
  }

  [[nodiscard]] api::TokenNeed token_need() const {
    if (token_required_) return api::TokenNeed::kNow;
    return config_.auth.required == AuthRequired::kFalse ? api::TokenNeed::kNever
                                                         : api::TokenNeed::kOnceThereAreSome;
  }

  // Beyond this machine nobody comes in without a token.
  Result<> check_access() {
    const bool is_local = listens_on_loopback(config_.server.http.listen);
    const Result<bool> any = tokens_->any();
    if (!any) return fail(any.error());
    token_required_ = config_.auth.required == AuthRequired::kTrue ||
                      (config_.auth.required == AuthRequired::kAuto && (!is_local || *any));
    if (!is_local && !token_required_) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("auth.required: false is only possible on loopback, and this listens "
                              "on {}",
                              config_.server.http.listen));
    }
    if (is_local || *any) return {};
    return fail(ErrorCode::kInvalid,
                fmt::format("{} can be reached from other machines, and there is no token: add one "
                            "under auth.tokens, with its secret as env:NAME or file:PATH, or "
                            "listen on 127.0.0.1",
                            config_.server.http.listen));
  }

  const Config config_;
  Log& log_;
  SystemClock clock_;
  UlidSource ids_{clock_, random_seed()};
  api::Figures figures_{clock_};
  api::Feed feed_;
  embed::NamedStore store_;
  std::unique_ptr<http::Client> client_;
  // Before the node, which tells them what happens.
  std::unique_ptr<Notifications> notifications_;
  Alerts alerts_{config_.notify, clock_};
  // Before the node too, whose threads run its rows. Empty where no table is guarded.
  std::unique_ptr<guard::Door> guards_;
  // And before it for the same reason: whoever is retried may be published again.
  std::unique_ptr<MessageDoor> messages_;
  std::unique_ptr<engine::Node> node_;
  std::optional<api::Tokens> tokens_;
  bool token_required_ = true;
  // Empty where there are no degrade kinds.
  std::unique_ptr<degrade::Recorder> recorder_;
  std::optional<create::Creator> creator_;
  std::optional<engine::LeaseDesk> leases_;
  std::optional<api::LeaseLine> lease_line_;
  std::optional<api::BulkJobs> bulk_;
  std::optional<Janitor> janitor_;
  std::optional<Pulse> pulse_;
  std::optional<api::Gate> gate_;
  std::optional<api::Desk> desk_;
  engine::Executor pool_{kApiThreads};
  // Last: it lets nobody in while the others go.
  std::unique_ptr<http::Server> http_;
};

}  // namespace

Result<std::unique_ptr<RunningServer>> RunningServer::start(const Config& config,
                                                            const Environment& environment,
                                                            Log& log) {
  auto server = std::make_unique<Server>(config, log);
  if (Result<> opened = server->open(environment); !opened) return fail(opened.error());
  if (Result<> serves = server->serve(); !serves) return fail(serves.error());
  return std::unique_ptr<RunningServer>(std::move(server));
}

}  // namespace recourse::app
