// Server-sent events, read as they come. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace recourse::cli {

struct StreamEvent {
  std::string name;
  std::string data;
};

// Pieces end anywhere, in the middle of a line too.
class EventReader {
 public:
  // `found` is called for each whole event.
  void feed(std::string_view piece, const std::function<void(const StreamEvent&)>& found);

 private:
  void take_line(std::string_view line, const std::function<void(const StreamEvent&)>& found);

  std::string rest_;
  StreamEvent event_;
};

}  // namespace recourse::cli
