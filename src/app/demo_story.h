// What happens in the demo, told as it happens. It uses the API like anybody else.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/demo_downstream.h"
#include "base/result.h"
#include "cli/session.h"

namespace recourse::app {

class DemoStory {
 public:
  // False when somebody wants it to end.
  using Pause = std::function<bool(Duration)>;

  // All of them must outlive it.
  DemoStory(cli::Session& session, DemoDownstream& downstream, Pause pause)
      : session_(session), downstream_(downstream), pause_(std::move(pause)) {}

  // False where it was ended, or something did not happen that should have.
  bool tell();
  // What to try next.
  void part();

 private:
  bool submit_all();
  bool watch_them_fail();
  bool heal();
  bool redrive();
  void look_back();

  void title(std::string_view text);
  void line(std::string_view text);
  std::string submit(std::string_view kind, std::string_view payload);
  // Says the counts whenever they change, until `over` likes them.
  bool wait_until(const std::function<bool(const boost::json::object& states)>& over,
                  Duration limit);

  cli::Session& session_;
  DemoDownstream& downstream_;
  Pause pause_;
  int step_ = 0;
  std::vector<std::string> points_;
  std::string mail_;
  std::string said_;
};

}  // namespace recourse::app
