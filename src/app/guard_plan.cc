#include "app/guard_plan.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "api/guard_bodies.h"
#include "app/config/guard_words.h"
#include "cli/command.h"
#include "cli/exit_code.h"

namespace recourse::app {
namespace {

constexpr Duration kPlanWithin = std::chrono::seconds(30);

using Statements = std::vector<std::string>;

Result<Statements> statements_of(const Config& config, const GuardConfig& guard) {
  const auto table = open_guard_alone(config, guard);
  if (!table) return fail(table.error());
  auto plan = (*table)->plan(kPlanWithin);
  if (!plan) return fail(plan.error());
  return std::move(plan->statements);
}

void print(cli::Terminal& terminal, const GuardConfig& guard, const Statements& statements) {
  if (statements.empty()) return;
  terminal.out << fmt::format("-- {}: {}\n", guard.settings.name, guard.settings.table);
  for (const std::string& statement : statements) terminal.out << statement << ";\n";
}

Result<guard::TableReport> report_of(const Config& config, const GuardConfig& guard) {
  const auto table = open_guard_alone(config, guard);
  return table ? (*table)->report(kPlanWithin) : fail(table.error());
}

}  // namespace

Result<std::unique_ptr<guard::GuardedTable>> open_guard_alone(const Config& config,
                                                              const GuardConfig& guard) {
  const Secret& url = guard.database.is_empty() ? config.store.url : guard.database;
  return guard::open_table(url.reveal(), guard.settings, kPlanWithin);
}

Result<boost::json::array> guard_reports(const std::string& file, const std::string& wanted) {
  const auto config = load_or_complain({.file = file}, environment_of_process());
  if (!config) return fail(ErrorCode::kInvalid, "this configuration cannot be used");
  boost::json::array reports;
  for (const auto& [name, guard] : config->guards) {
    if (!wanted.empty() && name != wanted) continue;
    const auto report = report_of(*config, guard);
    boost::json::object shape{{"guard", name}, {"table", guard.settings.table}};
    if (report) {
      for (const auto& [key, value] : api::to_json(*report)) shape[key] = value;
    } else {
      const std::string why = in_words_of_file(report.error().message);
      if (!wanted.empty()) {
        return fail(report.error().code, fmt::format("guards.{}: {}", name, why));
      }
      shape["error"] = why;
    }
    reports.push_back(std::move(shape));
  }
  return reports;
}

int print_plan(cli::Terminal& terminal, const ConfigFlags& flags, bool json) {
  const auto config = load_or_complain(flags, environment_of_process());
  if (!config) return static_cast<int>(cli::ExitCode::kUsage);
  boost::json::array items;
  std::size_t missing = 0;
  for (const auto& [name, guard] : config->guards) {
    const auto statements = statements_of(*config, guard);
    if (!statements) {
      terminal.err << fmt::format("recourse: guards.{}: {}\n", name,
                                  in_words_of_file(statements.error().message));
      return static_cast<int>(cli::exit_code_of(statements.error().code));
    }
    missing += statements->size();
    if (!json) print(terminal, guard, *statements);
    boost::json::array list(statements->begin(), statements->end());
    items.push_back(
        {{"guard", name}, {"table", guard.settings.table}, {"statements", std::move(list)}});
  }
  if (json) {
    terminal.out << boost::json::object{{"items", std::move(items)}} << '\n';
  } else if (missing == 0) {
    terminal.err << (config->guards.empty() ? "No table is guarded: name one under guards.\n"
                                            : "Nothing is missing.\n");
  }
  return static_cast<int>(cli::ExitCode::kOk);
}

void add_guard_plan_command(CLI::App& program, cli::Terminal& terminal,
                            std::function<int()>& chosen) {
  struct PlanFlags {
    ConfigFlags config = {};
    bool json = false;
  };
  const auto flags = std::make_shared<PlanFlags>();
  CLI::App& command =
      cli::add_command(*program.get_subcommand("guard"), "plan",
                       "Print what guards would add to their tables, as SQL; no server is needed",
                       {"recourse guard plan --config recourse.yaml",
                        "recourse guard plan --config recourse.yaml | sqlite3 shop.db"});
  add_config_flags(command, flags->config);
  command.add_flag("--json", flags->json, "As JSON");
  command.callback([&chosen, &terminal, flags] {
    chosen = [&terminal, flags] { return print_plan(terminal, flags->config, flags->json); };
  });
}

}  // namespace recourse::app
