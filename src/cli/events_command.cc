// events: what happens, as it happens.
#include <memory>

#include "cli/commands.h"
#include "cli/event_line.h"
#include "cli/event_stream.h"
#include "cli/json_read.h"

namespace recourse::cli {
namespace {

constexpr Duration kComeBackAfter = std::chrono::seconds(1);

struct EventFlags {
  std::string kind = {};
  // 0: until somebody ends it.
  int count = 0;
};

class Watch {
 public:
  Watch(Session& session, const EventFlags& flags)
      : session_(session), flags_(flags), left_(flags.count) {}

  // Whoever reads us slowly slows the stream down, and nothing else: it is the only call.
  bool take(std::string_view piece) {
    heard_ = true;
    reader_.feed(piece, [this](const StreamEvent& event) { show(event); });
    return !is_over();
  }
  void begin_anew() {
    reader_ = {};
    heard_ = false;
  }
  [[nodiscard]] bool is_over() const { return flags_.count > 0 && left_ <= 0; }
  [[nodiscard]] bool heard() const { return heard_; }

 private:
  void show(const StreamEvent& event) {
    boost::json::error_code error;
    boost::json::value parsed = boost::json::parse(event.data, error);
    if (error || !parsed.is_object() || is_over()) return;
    boost::json::object& data = parsed.as_object();
    if (!flags_.kind.empty() && text_of(data, "kind") != flags_.kind) return;
    std::ostream& out = session_.terminal().out;
    if (session_.flags().json) {
      data["event_type"] = event.name;
      out << data << std::endl;
    } else {
      out << event_line(event.name, data, session_.colors()) << std::endl;
    }
    --left_;
  }

  Session& session_;
  const EventFlags& flags_;
  EventReader reader_;
  int left_;
  bool heard_ = false;
};

ExitCode events(Session& session, const EventFlags& flags) {
  Watch watch(session, flags);
  bool was_there = false;
  while (true) {
    watch.begin_anew();
    const bool ended = session.follow(
        "/api/v1/events", [&watch](std::string_view piece) { return watch.take(piece); });
    if (watch.is_over()) return ExitCode::kOk;
    // Wrong from the start is an error; gone later is a restart, which passes.
    if (!ended && !was_there && !watch.heard()) {
      return session.complain(session.exit_code(), session.trouble());
    }
    if (watch.heard() || !was_there) session.say("the server is gone; waiting for it");
    was_there = true;
    session.terminal().sleep(kComeBackAfter);
  }
}

}  // namespace

void add_events_command(const Tree& tree) {
  const auto flags = std::make_shared<EventFlags>();
  CLI::App& command = add_command(tree.program, "events", "Follow what happens, until Ctrl-C",
                                  {"recourse events", "recourse events --kind grant-points",
                                   "recourse events --json | jq .state"});
  command.add_option("--kind", flags->kind, "Only of this kind")->type_name("KIND");
  command.add_option("--count", flags->count, "End after so many")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000));
  runs(command, tree, [flags](Session& session) { return events(session, *flags); });
}

}  // namespace recourse::cli
