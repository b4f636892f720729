// Steering tasks: a few by their ids, or many by what they have in common.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/filter_flags.h"
#include "cli/session.h"

namespace recourse::cli {

struct Steering {
  // In the API's words and in ours: retry, Retries, retried.
  std::string_view action;
  std::string_view does;
  std::string_view done;
  // Nobody can take it back: a word has to be typed.
  bool is_final = false;
};

struct SteerFlags {
  // - reads them from standard input.
  std::vector<std::string> ids = {};
  FilterFlags filter = {};
  std::string reason = {};
  bool yes = false;
  bool dry_run = false;
};

// Those that were given, and those on `in` in the place of a -.
std::vector<std::string> read_ids(const std::vector<std::string>& given, std::istream& in);

ExitCode steer(Session& session, const Steering& steering, const SteerFlags& flags);

// All that fit the filter, however few conditions it has.
ExitCode steer_by_filter(Session& session, const Steering& steering, const SteerFlags& flags);

// A bulk job in somebody else's words: counted, confirmed, and watched until it has ended.
struct BulkAsk {
  Steering steering;
  std::string path;
  boost::json::object body;
  // Which, for so many of them: "dead tasks of grant-points".
  std::function<std::string(std::size_t how_many)> what;
  // Where the server stopped counting; empty: nobody knows better.
  std::function<std::optional<std::size_t>()> count_all = nullptr;
  bool yes = false;
  bool dry_run = false;
};
ExitCode run_bulk(Session& session, const BulkAsk& ask);

ExitCode steer_by_ids(Session& session, const Steering& steering, const SteerFlags& flags);

}  // namespace recourse::cli
