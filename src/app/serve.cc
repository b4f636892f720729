#include "app/serve.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <thread>
#include <utility>

#include "app/config/changes.h"
#include "app/kinds.h"
#include "app/open_files.h"
#include "app/pulse.h"
#include "app/running_server.h"
#include "app/stderr_log.h"
#include "app/supervisor.h"
#include "app/version.h"
#include "base/duration_text.h"

namespace recourse::app {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kStoreDown = 6;
// Beside what runs, the last calls of the store and requests under way end.
constexpr Duration kStopEndsAfterLimit = std::chrono::seconds(15);

// They are waited for on the main thread, so that no handler runs in the middle of anything; every
// thread that starts later inherits the mask.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

bool wants_json(const Config& config) {
  if (config.log.format == LogFormat::kAuto) return isatty(STDERR_FILENO) == 0;
  return config.log.format == LogFormat::kJson;
}

void reload(Config& config, const ConfigFlags& flags, StderrLog& log) {
  const std::optional<Config> read = load_or_complain(flags, environment_of_process());
  if (!read) {
    log.error("reload_refused", {{"advice", "correct what is said above; nothing has changed"}});
    return;
  }
  const Changes changes = what_changed(config, *read);
  for (const Change& change : changes.now) {
    log.info("setting_changed",
             {{"key", change.path}, {"from", change.before}, {"to", change.after}});
  }
  for (const Change& change : changes.restart) {
    log.warning("setting_needs_restart",
                {{"key", change.path}, {"from", change.before}, {"to", change.after}});
  }
  if (changes.now.empty() && changes.restart.empty()) log.info("reloaded", {{"changes", "none"}});
  log.set_level(read->log.level);
  config.log = read->log;
  config.shutdown_limit = read->shutdown_limit;
}

engine::Stopped stop(RunningServer& server, Duration limit, const sigset_t& signals, Log& log) {
  engine::Stopped stopped;
  std::atomic<bool> ended = false;
  std::thread stopping([&] {
    stopped = server.stop(limit);
    ended = true;
  });
  // A second signal forces.
  bool forced = false;
  while (!ended) {
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000'000};
    if (sigtimedwait(&signals, nullptr, &moment) > 0 && !std::exchange(forced, true)) {
      log.warning("stop_forced");
      (void)server.stop(Duration::zero());
    }
  }
  stopping.join();
  return stopped;
}

// Twice as often as it is looked for, and only while the engine's loop turns: one that hangs is
// killed and started again, and others take its tasks over.
void feed_watchdog(Supervisor& supervisor, RunningServer& server, std::optional<Pulse>& feeding) {
  if (!supervisor.watchdog()) return;
  feeding.emplace(*supervisor.watchdog() / 2,
                  [&supervisor, &server, before = std::uint64_t{0}]() mutable {
                    const std::uint64_t turns = server.turns();
                    if (std::exchange(before, turns) != turns) supervisor.alive();
                  });
}

// The signal that ends it.
int wait_for_end(const sigset_t& signals, Config& config, const ConfigFlags& flags, StderrLog& log,
                 Supervisor& supervisor, const std::string& status) {
  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) {
    supervisor.reloading("Reads its configuration again");
    reload(config, flags, log);
    supervisor.ready(status);
  }
  return signal;
}

void greet(const RunningServer& server, const Config& config) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::cerr << "\n  Recourse " << kVersion << " listens on " << server.url() << "\n"
            << "  store:  " << shown_url(config.store.url.reveal()) << "\n"
            << "  kinds:  ";
  const char* separator = "";
  for (const auto& [name, kind] : config.kinds) {
    std::cerr << std::exchange(separator, ", ") << name;
  }
  for (const auto& [name, guard] : config.guards) {
    std::cerr << std::exchange(separator, ", ") << "guard." << name;
  }
  const bool has_none = config.kinds.empty() && config.guards.empty();
  std::cerr << (has_none ? "none; declare some under kinds: in a --config file" : "")
            << "\n  Ctrl-C stops it: what runs is finished, what waits is handed back.\n\n";
}

}  // namespace

int serve(const ConfigFlags& flags) {
  const sigset_t signals = block_signals();
  const Environment environment = environment_of_process();
  std::optional<Config> config = load_or_complain(flags, environment);
  if (!config) return kUsage;
  std::error_code ignored;
  std::filesystem::create_directories(config->store.data_dir, ignored);
  const SystemClock clock;
  StderrLog log(clock, config->log.level, wants_json(*config));
  raise_open_files(log);
  Supervisor supervisor(environment, log);
  auto server = RunningServer::start(*config, environment, log);
  if (!server) {
    std::cerr << "recourse: " << server.error().message << '\n';
    if (server.error().code == ErrorCode::kInvalid) return kUsage;
    const ErrorCode code = server.error().code;
    // The latter: another process has its file.
    return code == ErrorCode::kUnavailable || code == ErrorCode::kExhausted ? kStoreDown : kFailed;
  }
  log.info("serving", {{"url", (*server)->url()}, {"version", std::string(kVersion)}});
  greet(**server, *config);
  const std::string status = "Serves on " + (*server)->url();
  supervisor.ready(status);
  std::optional<Pulse> feeding;
  feed_watchdog(supervisor, **server, feeding);
  const int signal = wait_for_end(signals, *config, flags, log, supervisor, status);
  log.info("stopping", {{"signal", signal == SIGINT ? "interrupt" : "terminate"}});
  supervisor.stopping(
      config->shutdown_limit + kStopEndsAfterLimit,
      "Stops; waits for what runs, up to " + format_duration(config->shutdown_limit));
  const engine::Stopped stopped = stop(**server, config->shutdown_limit, signals, log);
  log.info("stopped", {{"released", std::to_string(stopped.released)},
                       {"finished", std::to_string(stopped.finished)},
                       {"cut_off", std::to_string(stopped.cut_off)}});
  return 0;
}

}  // namespace recourse::app
