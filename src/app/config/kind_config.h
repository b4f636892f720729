// One kind of task, and how its attempts leave the process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/secret.h"
#include "base/time.h"
#include "engine/core/settings.h"
#include "http/message.h"
#include "task/state.h"

namespace recourse::app {

enum class KindType : std::uint8_t {
  kHttp,    // a URL is called
  kExec,    // a program is run
  kWorker,  // a program outside leases tasks and reports
};
inline constexpr std::array kAllKindTypes{KindType::kHttp, KindType::kExec, KindType::kWorker};
constexpr std::string_view to_string(KindType type) {
  switch (type) {
    case KindType::kHttp: return "http";
    case KindType::kExec: return "exec";
    case KindType::kWorker: return "worker";
  }
  std::abort();
}

// Where signed calls go.
struct HttpTarget {
  std::string url = {};
  std::map<std::string, std::string> headers = {};
  std::map<std::string, Secret> secret_headers = {};
  // Each signs; receivers may know any of them while keys change.
  std::vector<Secret> signing = {};
};

struct HttpKind : HttpTarget {
  // Asked "is it already done?" after a time-out or a takeover; empty: nobody is asked.
  std::string probe_url = {};
  std::size_t answer_bytes_max = std::size_t{64} * 1024;
};

struct ExecKind {
  // The program and its arguments; no shell reads them.
  std::vector<std::string> command = {};
  // Names of our variables that the program gets; all others it does not.
  std::vector<std::string> environment = {};
  // Empty: ours.
  std::string working_directory = {};
};

struct KindConfig {
  KindType type = KindType::kHttp;
  engine::KindSettings settings = {};
  // Of a task that was submitted without its own.
  int max_retries = 5;
  Duration timeout = std::chrono::seconds(10);
  // Of finished states; what is missing follows `retention.finished`.
  std::map<task::State, Duration> retention = {};
  // Its tasks are side effects that failed inline: the first attempt is a retry already.
  bool degrade = false;
  // Its tasks are messages of brokers; so too where a source names it.
  bool message = false;
  HttpKind http = {};
  ExecKind exec = {};
};

}  // namespace recourse::app
