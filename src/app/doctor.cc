#include "app/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <vector>

#include "app/authorities.h"
#include "app/configured.h"
#include "app/doctor_guards.h"
#include "app/doctor_kinds.h"
#include "app/doctor_messages.h"
#include "app/doctor_server.h"
#include "app/doctor_store.h"
#include "app/finding.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/display_text.h"

namespace recourse::app {
namespace {

struct DoctorFlags {
  ConfigFlags config = {};
  cli::ApiFlags api = {};
};

void examine_config(const ConfigFlags& flags, Findings& findings) {
  const Environment environment = environment_of_process();
  const Loaded loaded = load_flags(flags, environment);
  for (const Problem& problem : loaded.problems) {
    const std::string text = to_string(problem);
    if (problem.severity == Severity::kError) {
      findings.broken("configuration", text, "correct it; recourse config reference has every key");
    } else {
      findings.doubtful("configuration", text, "see recourse config reference");
    }
  }
  if (!loaded.config) return;
  const std::vector<Problem> files = check_authorities(*loaded.config);
  for (const Problem& problem : files) {
    findings.broken("configuration", to_string(problem), "correct the key, or put the file there");
  }
  if (loaded.problems.empty() && files.empty()) findings.fine("configuration", "is valid");
  const SystemClock clock;
  examine_store(*loaded.config, clock, findings);
  examine_kinds(*loaded.config, environment, findings);
  examine_guards(*loaded.config, findings);
  examine_sources(*loaded.config, findings);
}

void print_json(cli::Terminal& terminal, const Findings& findings) {
  boost::json::array items;
  for (const Finding& finding : findings.list()) {
    items.push_back({{"health", finding.health == Health::kFine       ? "ok"
                                : finding.health == Health::kDoubtful ? "doubtful"
                                                                      : "broken"},
                     {"about", finding.about},
                     {"what", finding.what},
                     {"remedy", finding.remedy}});
  }
  terminal.out << boost::json::object{{"items", std::move(items)}} << '\n';
}

void print(cli::Terminal& terminal, const cli::Colors& colors, const Findings& findings) {
  for (const Finding& finding : findings.list()) {
    const std::string word = fmt::format("{:<6}", to_string(finding.health));
    terminal.out << (finding.health == Health::kFine       ? colors.green(word)
                     : finding.health == Health::kDoubtful ? colors.yellow(word)
                                                           : colors.red(word))
                 << "  " << cli::printable(finding.about) << ": " << cli::printable(finding.what)
                 << '\n';
    if (!finding.remedy.empty()) {
      terminal.out << "        -> " << cli::printable(finding.remedy) << '\n';
    }
  }
}

int doctor(cli::Terminal& terminal, const DoctorFlags& flags) {
  Findings findings;
  const bool has_config = !flags.config.file.empty() || !flags.config.store.empty() ||
                          !flags.config.set.empty() || terminal.variable("RECOURSE_CONFIG");
  const bool has_server = !flags.api.server.empty() || terminal.variable("RECOURSE_SERVER");
  if (has_config) examine_config(flags.config, findings);
  if (has_server || !has_config) {
    auto session = cli::Session::open(flags.api, terminal);
    if (session) examine_server(*session, findings);
    if (!session) findings.broken("server", session.error().message, "correct the flag");
  }
  if (flags.api.json) {
    print_json(terminal, findings);
  } else {
    print(terminal, terminal.colors(flags.api.no_color), findings);
  }
  const auto broken = std::ranges::count(findings.list(), Health::kBroken, &Finding::health);
  if (!flags.api.quiet && !flags.api.json) {
    terminal.err << (broken == 0 ? "Nothing is broken." : fmt::format("{} broken.", broken))
                 << '\n';
  }
  return static_cast<int>(broken == 0 ? cli::ExitCode::kOk : cli::ExitCode::kFailure);
}

}  // namespace

void add_doctor_command(CLI::App& program, cli::Terminal& terminal, std::function<int()>& chosen) {
  const auto flags = std::make_shared<DoctorFlags>();
  CLI::App& command =
      cli::add_command(program, "doctor", "Say what is wrong here, and what to do about it",
                       {"recourse doctor", "recourse doctor --config recourse.yaml",
                        "recourse doctor --server https://recourse.example.com"});
  add_config_flags(command, flags->config);
  cli::add_api_flags(command, flags->api);
  command.callback([&chosen, &terminal, flags] {
    chosen = [&terminal, flags] { return doctor(terminal, *flags); };
  });
}

}  // namespace recourse::app
