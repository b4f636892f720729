#include "sim/options.h"

#include <charconv>

namespace recourse::sim {
namespace {

template <class Number>
bool read(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

Result<> take(Options& options, const std::string& name, const std::string& value) {
  bool good = true;
  if (name == "--seeds") {
    good = read(value, options.seeds) && options.seeds >= 1;
  } else if (name == "--nodes") {
    good = read(value, options.nodes) && options.nodes >= 1 && options.nodes <= 100;
  } else if (name == "--hours") {
    good = read(value, options.hours) && options.hours >= 0.5 && options.hours <= 24;
  } else if (name == "--seed") {
    std::uint64_t seed = 0;
    good = read(value, seed);
    options.seed = seed;
  } else if (name == "--from") {
    good = read(value, options.first_seed);
  } else if (name == "--threads") {
    good = read(value, options.threads) && options.threads >= 1;
  } else if (name == "--tail") {
    good = read(value, options.tail);
  } else if (name == "--bug") {
    const auto bug = parse_planted_bug(value);
    good = bug.has_value();
    options.bug = bug.value_or(PlantedBug::kNone);
  } else {
    return fail(ErrorCode::kInvalid, "unknown option " + name + "; --help lists them");
  }
  if (good) return {};
  return fail(ErrorCode::kInvalid, name + " cannot be '" + value + "'");
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--list-bugs") {
      options.list_bugs = true;
    } else if (arguments[i] == "--help") {
      options.help = true;
    } else if (i + 1 == arguments.size()) {
      return fail(ErrorCode::kInvalid, arguments[i] + " needs a value, or is unknown");
    } else {
      if (Result<> taken = take(options, arguments[i], arguments[i + 1]); !taken) {
        return fail(taken.error());
      }
      ++i;
    }
  }
  return options;
}

std::string help_text() {
  return "recourse_sim [--seeds N] [--nodes K] [--hours H] [--seed S] [--from S] [--threads T]\n"
         "             [--tail N] [--bug NAME] [--list-bugs]\n"
         "\n"
         "Runs simulated clusters, one from each seed, and checks what they promise. Exit code 1\n"
         "where something broke; the output says how to see it again.\n"
         "\n"
         "  --seeds N    so many seeds (20), from --from on (1)\n"
         "  --seed S     only this one\n"
         "  --nodes K    nodes in each cluster (5)\n"
         "  --hours H    simulated hours (1; at least 0.5)\n"
         "  --threads T  seeds at once (as many as there are processors)\n"
         "  --tail N     lines of the trace after a violation (60)\n"
         "  --bug NAME   with a bug planted in the product: the run should fail\n";
}

}  // namespace recourse::sim
