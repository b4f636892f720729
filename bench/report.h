// What every benchmark hands out: a table for people or, with --json, one object per line.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace recourse::bench {

struct Comparison {
  std::string reference;  // what was measured beside it, in the same run
  double ratio;           // ours to it; above 1 is better
};

struct Figure {
  std::string bench;
  std::string name;  // "case" in the output
  double value;
  std::string unit;
  std::optional<Comparison> comparison;
  std::string goal;  // for people only
  // Whether the goal was reached, where the benchmark judges that itself.
  std::optional<bool> met = std::nullopt;
};

enum class Format { kTable, kJson };

// Takes --json out of the arguments, so that the rest can go to a library.
Format take_format(int& argc, char** argv);

void print(const std::vector<Figure>& figures, Format format);

}  // namespace recourse::bench
