#include "cli/confirm.h"

#include "cli/display_text.h"

namespace recourse::cli {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Confirmed confirm(const Question& question, const Asking& asking, std::istream& in,
                  std::ostream& out) {
  if (asking.assumed) return Confirmed::kYes;
  out << printable(question.what);
  if (!asking.is_terminal) {
    out << " Nobody is here to ask: add --yes to go on.\n";
    return Confirmed::kNobodyToAsk;
  }
  const bool wants_word = !question.type_word.empty();
  if (wants_word) {
    out << " Type " << printable(question.type_word) << " to go on: " << std::flush;
  } else {
    out << " Go on? [y/N] " << std::flush;
  }
  std::string line;
  if (!std::getline(in, line)) {
    out << "\n";
    return Confirmed::kNo;
  }
  const std::string answer = trimmed(line);
  const bool yes = wants_word
                       ? answer == question.type_word
                       : answer == "y" || answer == "Y" || answer == "yes" || answer == "YES";
  return yes ? Confirmed::kYes : Confirmed::kNo;
}

}  // namespace recourse::cli
