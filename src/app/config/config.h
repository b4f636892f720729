// All that the program is told: by its file, its environment and its flags. Plain values, and where
// a part of the program has settings of its own, those very settings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/access.h"
#include "app/config/guard_config.h"
#include "app/config/kind_config.h"
#include "app/config/message_config.h"
#include "app/config/notify_config.h"
#include "app/config/secret.h"
#include "app/config/where.h"
#include "base/log.h"
#include "base/time.h"
#include "degrade/cleaning.h"
#include "degrade/retry_rule.h"
#include "degrade/spool.h"
#include "engine/core/schedule_table.h"
#include "engine/core/settings.h"
#include "http/server.h"
#include "store/retention.h"

namespace recourse::app {

struct ServerConfig {
  http::ServerSettings http = {};
  // How people and callbacks reach it from outside; empty: as it listens.
  std::string base_url = {};
  // Host headers that are answered besides those of `listen` and `base_url`.
  std::vector<std::string> trusted_hosts = {};
};

enum class AuthRequired : std::uint8_t {
  kAuto,  // unless it listens on this machine only and there are no tokens
  kTrue,
  kFalse,
};
inline constexpr std::array kAllAuthRequired{AuthRequired::kAuto, AuthRequired::kTrue,
                                             AuthRequired::kFalse};
constexpr std::string_view to_string(AuthRequired required) {
  switch (required) {
    case AuthRequired::kAuto: return "auto";
    case AuthRequired::kTrue: return "true";
    case AuthRequired::kFalse: return "false";
  }
  std::abort();
}

struct TokenConfig {
  api::Role role = api::Role::kViewer;
  // Empty: all tenants.
  std::string tenant = {};
  Secret secret = {};
};

struct AuthConfig {
  AuthRequired required = AuthRequired::kAuto;
  // By name, which is what the audit shows.
  std::map<std::string, TokenConfig> tokens = {};
};

struct StoreConfig {
  // Never empty once it was parsed. May hold a password.
  Secret url = {};
  std::string data_dir = ".";
};

enum class LogFormat : std::uint8_t { kAuto, kText, kJson };
inline constexpr std::array kAllLogFormats{LogFormat::kAuto, LogFormat::kText, LogFormat::kJson};
constexpr std::string_view to_string(LogFormat format) {
  switch (format) {
    case LogFormat::kAuto: return "auto";
    case LogFormat::kText: return "text";
    case LogFormat::kJson: return "json";
  }
  std::abort();
}

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kAuto;
};

struct LimitsConfig {
  std::size_t payload_bytes = task::kPayloadBytesMax;
  // Tasks of one request.
  std::size_t batch = 1'000;
};

struct ScheduleConfig {
  // As it was written.
  std::string when = {};
  engine::Schedule schedule;
};

struct DegradeConfig {
  Duration first_retry_after = degrade::kFirstRetryAfter;
  // Empty: `degrade-spool` in the data directory.
  std::string spool = {};
  std::size_t spool_bytes = degrade::SpoolSettings().bytes_max;
  // `never`: only when somebody asks for it.
  std::string clean_when = std::string(degrade::kCleanWhen);
  Duration clean_after = degrade::kCleanAfter;
};
inline constexpr std::string_view kCleanNever = "never";

// Read and kept, for the parts that will use them.
struct LaterConfig {
  // retry.tx
  std::string propagation = "REQUIRED";
  std::string isolation = "DEFAULT";
  bool read_only = false;
};

struct Config {
  ServerConfig server = {};
  AuthConfig auth = {};
  StoreConfig store = {};
  // Its name is empty where none was given.
  engine::NodeSettings node = {};
  // What a kind has unless it says otherwise; tasks of kinds that are not listed too.
  KindConfig defaults = {};
  std::map<std::string, KindConfig> kinds = {};
  std::map<std::string, ScheduleConfig> schedules = {};
  NotifyConfig notify = {};
  DegradeConfig degrade = {};
  MessagesConfig messages = {};
  // By name; their kinds are `guard.NAME`.
  std::map<std::string, GuardConfig> guards = {};
  AbnormalConfig abnormal = {};
  bool create_enabled = true;
  // Put together from `retention` and from the kinds' own.
  store::Retention retention = {};
  LogConfig log = {};
  Duration shutdown_limit = std::chrono::seconds(30);
  LimitsConfig limits = {};
  LaterConfig later = {};

  // Of every key that was given.
  std::map<std::string, Where> origins = {};
};

}  // namespace recourse::app
