#include "cli/event_stream.h"

#include <utility>

namespace recourse::cli {

void EventReader::feed(std::string_view piece,
                       const std::function<void(const StreamEvent&)>& found) {
  rest_ += piece;
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos;
       end = rest_.find('\n', begin)) {
    std::string_view line = std::string_view(rest_).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take_line(line, found);
    begin = end + 1;
  }
  rest_.erase(0, begin);
}

void EventReader::take_line(std::string_view line,
                            const std::function<void(const StreamEvent&)>& found) {
  if (line.empty()) {
    const StreamEvent event = std::exchange(event_, {});
    if (!event.data.empty()) found(event);
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") event_.name = value;
  if (field != "data") return;
  if (!event_.data.empty()) event_.data += '\n';
  event_.data += value;
}

}  // namespace recourse::cli
