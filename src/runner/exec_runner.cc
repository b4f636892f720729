#include "runner/exec_runner.h"

#include <fmt/format.h>
#include <sysexits.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"
#include "runner/answer_rules.h"
#include "runner/child.h"
#include "runner/outgoing.h"

namespace recourse::runner {
namespace {

using policy::Category;

bool has_no_nul(std::string_view text) { return text.find('\0') == std::string_view::npos; }

bool is_variable(const std::pair<const std::string, std::string>& variable) {
  const std::string& name = variable.first;
  return !name.empty() && name.find('=') == std::string::npos && has_no_nul(name) &&
         has_no_nul(variable.second) && !name.starts_with("RECOURSE_") && name != "TRACEPARENT";
}

// Its last words, in lines. Terminals obey control characters, and people read reasons on them.
std::string last_words(const ChildEnd& end) {
  std::string words = end.errors.empty() ? end.output : end.errors;
  std::ranges::replace_if(
      words,
      [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
      },
      ' ');
  words.erase(std::min(words.size(), words.find_last_not_of(" \n\t") + 1));
  words = clean_text(words, words.size());
  // Within the bound of an error, whose end would be cut off, together with what stands before it.
  constexpr std::size_t kMax = kErrorCharactersMax - 100;
  if (words.size() > kMax)
    words = clean_text(std::string_view(words).substr(words.size() - kMax), kMax);
  return words;
}

engine::AttemptResult judge(const ChildEnd& end, Duration limit) {
  const std::string words = last_words(end);
  const std::string_view colon = words.empty() ? "" : ": ";
  if (end.how == ChildEnd::How::kExited && end.code == EX_OK) return engine::Succeeded{};
  if (end.timed_out) return engine::Failed{policy::TimedOut{limit}};
  if (end.stopped) return engine::Decided{stopped_before_its_end()};
  switch (end.how) {
    case ChildEnd::How::kNotRun:
      return engine::Decided{policy::retry(
          Category::kIo, "NOT_RUN",
          fmt::format("the command could not be run: {}; do its file and its working directory "
                      "exist, and may this program's user run it?",
                      std::generic_category().message(end.code)))};
    case ChildEnd::How::kSignalled:
      return engine::Decided{
          policy::retry(Category::kUnknown, fmt::format("SIGNAL_{}", end.code),
                        fmt::format("ended by signal {}{}{}", end.code, colon, words))};
    case ChildEnd::How::kExited: break;
  }
  std::string code = fmt::format("EXIT_{}", end.code);
  std::string message = fmt::format("exit status {}{}{}", end.code, colon, words);
  if (end.code == EX_TEMPFAIL) {
    return engine::Decided{
        policy::retry(Category::kBizRetryable, std::move(code), std::move(message))};
  }
  return engine::Decided{
      policy::dead_letter(Category::kUnknown, std::move(code), std::move(message))};
}

std::string line_of(const std::string& name, const std::string& value) {
  return name + '=' + value;
}

void run(const ExecRunnerSettings& settings, engine::AttemptRun& attempt) {
  std::vector<std::string> environment;
  for (const auto& [name, value] : settings.environment)
    environment.push_back(line_of(name, value));
  for (const auto& [name, value] : outgoing_environment(attempt)) {
    environment.push_back(line_of(name, value));
  }
  const ChildEnd end = run_child({.command = settings.command,
                                  .environment = environment,
                                  .working_directory = settings.working_directory,
                                  .input = attempt.task().spec.payload,
                                  .limit = attempt.time_left(),
                                  .grace = settings.grace},
                                 attempt.stop_token());
  attempt.complete(judge(end, attempt.task().spec.timeout));
}

}  // namespace

Result<> validate(const ExecRunnerSettings& settings) {
  using namespace std::chrono_literals;
  const bool is_absolute = !settings.command.empty() && settings.command.front().starts_with('/');
  return FieldChecks("exec")
      .require(is_absolute, "command",
               "must begin with the absolute path of a program: no shell and no PATH looks for it")
      .require(std::ranges::all_of(settings.command, has_no_nul), "command",
               "must have no zero bytes")
      .require(
          settings.working_directory.starts_with('/') && has_no_nul(settings.working_directory),
          "working_directory", "must be an absolute path")
      .require(std::ranges::all_of(settings.environment, is_variable), "environment",
               "must have names without '=', none of them RECOURSE_... or TRACEPARENT, which the "
               "engine sets")
      .between<Duration>("grace", settings.grace, 0ms, 1h)
      .result();
}

Result<engine::Handler> bind_exec(ExecRunnerSettings settings) {
  if (const Result<> valid = validate(settings); !valid) return fail(valid.error());
  const auto kept = std::make_shared<const ExecRunnerSettings>(std::move(settings));
  return engine::Handler(
      [kept](const std::shared_ptr<engine::AttemptRun>& attempt) { run(*kept, *attempt); });
}

}  // namespace recourse::runner
