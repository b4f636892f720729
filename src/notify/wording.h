// How a notice reads, whatever carries it. Nothing here is escaped: each format does that for
// itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "notify/notice.h"

namespace recourse::notify {

std::string_view title_of(Event event);

// `Recourse [error] Reminder 2: Dead letter: grant-points (and 412 more)`, on one line. The first
// word never changes: chat robots that ask for a keyword can be given it.
std::string headline(const Notice& notice);

struct Fact {
  std::string label;
  std::string value;
};
// What is known, in the order in which people ask; what is empty is left out.
std::vector<Fact> facts_of(const Notice& notice);

// `and 412 more of this kind since the last message`; empty where there are none.
std::string more_line(const Notice& notice);

// As plain text, line by line.
std::string plain_text(const Notice& notice);

// Cut on a character, never inside one, with dots where something is missing. Must be UTF-8.
std::string cut_to_bytes(std::string_view text, std::size_t bytes_max);
std::string cut_to_characters(std::string_view text, std::size_t characters_max);

}  // namespace recourse::notify
