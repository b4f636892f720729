// One run of a command: the server it speaks to, and the terminal it speaks on.
//
// Calls that fail say so on standard error, what to do next included; the command then only ends
// with `exit_code()`.
//
// Thread safety: none.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/api_flags.h"
#include "cli/exit_code.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "http/client.h"

namespace recourse::cli {

class Session {
 public:
  // The error says which flag to correct.
  static Result<Session> open(const ApiFlags& flags, Terminal& terminal);

  // The object that the server answers with; an empty one where it has nothing to say.
  std::optional<boost::json::object> get(const std::string& path);
  // `at_least` is for what takes the server long.
  std::optional<boost::json::object> call(http::Method method, const std::string& path,
                                          std::string body, Duration at_least = Duration::zero());
  // Where it failed, what would have been said is in `trouble()` instead.
  std::optional<boost::json::object> try_get(const std::string& path);
  // The answer in pieces, until `on_piece` is false or the server ends it. False where it failed.
  bool follow(const std::string& path, std::function<bool(std::string_view)> on_piece);

  // For those who send many at once, through a client of their own; `read` says what became of one,
  // as try_get does.
  [[nodiscard]] http::Call request(http::Method method, const std::string& path,
                                   std::string body = {}) const;
  std::optional<boost::json::object> read(http::CallResult result);

  // Of the last call that failed.
  [[nodiscard]] ExitCode exit_code() const { return exit_code_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  // `recourse: ...` on standard error; gives the code back.
  ExitCode complain(ExitCode code, std::string_view text);
  // On standard error, for people; nothing with -q or --json.
  void say(std::string_view text);
  void print(const boost::json::value& value);
  void print(const Table& table);

  [[nodiscard]] const ApiFlags& flags() const { return flags_; }
  [[nodiscard]] Terminal& terminal() { return terminal_; }
  [[nodiscard]] const Colors& colors() const { return colors_; }
  [[nodiscard]] const std::string& server() const { return server_; }
  [[nodiscard]] TimePoint now() const { return terminal_.now(); }

 private:
  Session(ApiFlags flags, Terminal& terminal);
  Result<> take_flags();
  ApiFlags flags_;
  Terminal& terminal_;
  Colors colors_;
  std::string server_;
  std::string token_;
  Duration timeout_{};
  std::unique_ptr<http::Client> client_;
  ExitCode exit_code_ = ExitCode::kOk;
  std::string trouble_;
};

}  // namespace recourse::cli
