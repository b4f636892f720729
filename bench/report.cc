#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstring>

namespace recourse::bench {
namespace {

std::string json_line(const Figure& figure) {
  boost::json::object object{{"bench", figure.bench},
                             {"case", figure.name},
                             {"value", figure.value},
                             {"unit", figure.unit}};
  if (figure.comparison) {
    object["reference"] = figure.comparison->reference;
    object["ratio"] = figure.comparison->ratio;
  }
  if (figure.met) object["met"] = *figure.met;
  return boost::json::serialize(object);
}

std::string_view mark_of(const Figure& figure) {
  if (!figure.met) return "";
  return *figure.met ? ": ok" : ": FALLS SHORT";
}

std::string table_line(const Figure& figure) {
  const std::string comparison =
      figure.comparison
          ? fmt::format("{:.2f}x {}", figure.comparison->ratio, figure.comparison->reference)
          : "";
  return fmt::format("{:<8} {:<38} {:>10.1f} {:<8} {:<28} {}{}", figure.bench, figure.name,
                     figure.value, figure.unit, comparison, figure.goal, mark_of(figure));
}

}  // namespace

Format take_format(int& argc, char** argv) {
  char** const end = std::remove_if(argv + 1, argv + argc,
                                    [](const char* a) { return !std::strcmp(a, "--json"); });
  const bool json = end != argv + argc;
  argc = static_cast<int>(end - argv);
  return json ? Format::kJson : Format::kTable;
}

void print(const std::vector<Figure>& figures, Format format) {
  if (format == Format::kTable) {
    std::puts(fmt::format("{:<8} {:<38} {:>10} {:<8} {:<28} {}", "bench", "case", "value", "unit",
                          "ours to it", "goal")
                  .c_str());
  }
  for (const Figure& figure : figures) {
    std::puts((format == Format::kJson ? json_line(figure) : table_line(figure)).c_str());
  }
}

}  // namespace recourse::bench
