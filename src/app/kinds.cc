#include "app/kinds.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/message_door.h"
#include "app/target.h"
#include "degrade/log_lines.h"
#include "degrade/retry_rule.h"
#include "runner/exec_runner.h"
#include "runner/http_runner.h"

namespace recourse::app {
namespace {

struct Binding {
  engine::Handler handler;
  engine::Probe probe = nullptr;
};

Result<runner::HttpRunnerSettings> call_settings(const KindConfig& kind) {
  auto target = resolve_target(kind.http);
  if (!target) return fail(target.error());
  runner::HttpRunnerSettings settings;
  settings.url = std::move(target->url);
  settings.headers = std::move(target->headers);
  settings.keys = std::move(target->keys);
  settings.answer_bytes_max = kind.http.answer_bytes_max;
  settings.lease = kind.settings.lease;
  if (!kind.http.probe_url.empty()) settings.probe = runner::HttpProbe{.url = kind.http.probe_url};
  return settings;
}

Result<Binding> bind_url(const KindConfig& kind, http::Client& client, const Clock& clock) {
  auto settings = call_settings(kind);
  if (!settings) return fail(settings.error());
  auto bound = runner::bind_http(*std::move(settings), client, clock);
  if (!bound) return fail(bound.error());
  return Binding{std::move(bound->handler), std::move(bound->probe)};
}

runner::ExecRunnerSettings command_settings(const KindConfig& kind,
                                            const Environment& environment) {
  runner::ExecRunnerSettings settings;
  settings.command = kind.exec.command;
  std::error_code unknown;
  settings.working_directory = kind.exec.working_directory.empty()
                                   ? std::filesystem::current_path(unknown).string()
                                   : kind.exec.working_directory;
  if (settings.working_directory.empty()) settings.working_directory = "/";
  for (const std::string& name : kind.exec.environment) {
    const auto found = environment.find(name);
    if (found != environment.end()) settings.environment.insert(*found);
  }
  return settings;
}

Result<Binding> bind_command(const KindConfig& kind, const Environment& environment) {
  auto handler = runner::bind_exec(command_settings(kind, environment));
  if (!handler) return fail(handler.error());
  return Binding{*std::move(handler)};
}

// The lane has no room, ever: workers take its tasks from the store.
Binding bind_worker() {
  return {
      [](const std::shared_ptr<engine::AttemptRun>& run) { run->complete(engine::NotStarted{}); }};
}

Result<Binding> bind(const KindConfig& kind, const Environment& environment, http::Client& client,
                     const Clock& clock) {
  switch (kind.type) {
    case KindType::kHttp: return bind_url(kind, client, clock);
    case KindType::kExec: return bind_command(kind, environment);
    case KindType::kWorker: return bind_worker();
  }
  std::abort();
}

Result<> check(const KindConfig& kind, const Environment& environment) {
  switch (kind.type) {
    case KindType::kHttp: {
      const auto settings = call_settings(kind);
      return settings ? runner::validate(*settings) : fail(settings.error());
    }
    case KindType::kExec: return runner::validate(command_settings(kind, environment));
    case KindType::kWorker: return {};
  }
  std::abort();
}

Error of_kind(const std::string& name, const Error& error) {
  return {error.code, fmt::format("kinds.{}: {}", name, error.message)};
}

}  // namespace

Result<> check_kinds(const Config& config, const Environment& environment) {
  for (const auto& [name, kind] : config.kinds) {
    if (const Result<> valid = check(kind, environment); !valid) {
      return fail(of_kind(name, valid.error()));
    }
  }
  return {};
}

Result<> register_kinds(const Config& config, const Environment& environment, engine::Node& node,
                        http::Client& client, const Clock& clock, MessageDoor& messages, Log& log) {
  for (const auto& [name, kind] : config.kinds) {
    auto bound = bind(kind, environment, client, clock);
    if (!bound) return fail(of_kind(name, bound.error()));
    engine::KindRules rules;
    rules.settings = kind.settings;
    rules.settings.asynchronous = kind.type == KindType::kHttp;
    rules.settings.outside = kind.type == KindType::kWorker;
    if (kind.degrade) {
      degrade::count_from_inline_call(rules);
      bound->handler = degrade::announcing_retries(std::move(bound->handler), log);
    }
    if (kind.message) {
      bound->handler = messages.wrap(name, std::move(bound->handler));
      // Whoever waits needs a thread.
      if (messages.may_wait(name)) rules.settings.asynchronous = false;
    }
    Result<> added =
        node.handle(name, std::move(rules), std::move(bound->handler), std::move(bound->probe));
    if (!added) return added;
  }
  for (const auto& [name, schedule] : config.schedules) {
    if (Result<> added = node.schedule(schedule.schedule); !added) return added;
  }
  return {};
}

std::string shown_url(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t end = url.find_first_of("/?#", begin);
  const std::size_t at = url.substr(0, end).rfind('@');
  std::string shown =
      at == std::string::npos || at < begin ? url : url.substr(0, begin) + url.substr(at + 1);
  // Keys and passwords like to stand behind it.
  return shown.substr(0, shown.find('?'));
}

std::vector<api::KindCard> cards_of(const Config& config) {
  std::vector<api::KindCard> cards;
  for (const auto& [name, kind] : config.kinds) {
    std::string target;
    if (kind.type == KindType::kHttp) target = shown_url(kind.http.url);
    if (kind.type == KindType::kExec && !kind.exec.command.empty()) {
      target = kind.exec.command.front();
    }
    cards.push_back({.name = name,
                     .type = std::string(to_string(kind.type)),
                     .target = std::move(target),
                     .timeout = kind.timeout,
                     .max_retries = kind.max_retries});
  }
  for (const auto& [name, guard] : config.guards) {
    cards.push_back({.name = "guard." + name,
                     .type = "guard",
                     .target = guard.settings.table,
                     .timeout = guard.settings.attempt_timeout,
                     .max_retries = guard.settings.max_retries});
  }
  return cards;
}

std::vector<api::ScheduleCard> schedule_cards_of(const Config& config) {
  std::vector<api::ScheduleCard> cards;
  for (const auto& [name, schedule] : config.schedules) {
    const task::TaskSpec& spec = schedule.schedule.spec;
    cards.push_back({.name = name,
                     .when = schedule.when,
                     .recurrence = schedule.schedule.when,
                     .kind = spec.kind,
                     .tenant = spec.tenant});
  }
  return cards;
}

}  // namespace recourse::app
