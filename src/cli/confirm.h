// Asking before something that cannot be taken back. How much is asked for follows the danger: a y
// for what touches much, a word to type for what destroys.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>

namespace recourse::cli {

struct Question {
  // What will happen, as a sentence: "Cancels 1,200 tasks of grant-points."
  std::string what;
  // To be typed for the gravest; empty: y is enough.
  std::string type_word = {};
};

struct Asking {
  // --yes
  bool assumed = false;
  // Somebody can answer: both streams are terminals.
  bool is_terminal = false;
};

enum class Confirmed : std::uint8_t {
  kYes,
  kNo,
  // Nobody there to ask, and no --yes: the command is refused as used wrongly.
  kNobodyToAsk,
};

// Says on `out` what was asked, and what to do where nobody could be.
Confirmed confirm(const Question& question, const Asking& asking, std::istream& in,
                  std::ostream& out);

}  // namespace recourse::cli
