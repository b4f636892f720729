#include "app/demo.h"

#include <pthread.h>

#include <csignal>
#include <ctime>
#include <memory>

#include "app/demo_server.h"
#include "app/demo_story.h"
#include "app/stderr_log.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/exit_code.h"

namespace recourse::app {
namespace {

struct DemoFlags {
  // How long it goes on after its story; below 0: until Ctrl-C.
  int seconds = -1;
};

// Blocked from the start, so that every thread inherits it and only wait() hears them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  // False as soon as one comes.
  [[nodiscard]] bool wait(Duration time) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const timespec moment{.tv_sec = seconds.count(),
                          .tv_nsec = std::chrono::nanoseconds(time - seconds).count()};
    return sigtimedwait(&set_, nullptr, &moment) < 0;
  }
  void wait_for_one() const {
    int signal = 0;
    sigwait(&set_, &signal);
  }

 private:
  sigset_t set_{};
};

int demo(cli::Terminal& terminal, const DemoFlags& flags) {
  const Signals signals;
  const SystemClock clock;
  // Only what a person must see: the story is told elsewhere.
  StderrLog log(clock, LogLevel::kError, !terminal.err_is_terminal);
  auto server = DemoServer::start(log);
  if (!server) {
    terminal.err << "recourse: " << server.error().message << '\n';
    return static_cast<int>(cli::exit_code_of(server.error().code));
  }
  // That is of the user's own server; this one asks for none.
  terminal.environment.erase("RECOURSE_TOKEN");
  auto session = cli::Session::open({.server = (*server)->url()}, terminal);
  if (!session) {
    terminal.err << "recourse: " << session.error().message << '\n';
    return static_cast<int>(cli::ExitCode::kFailure);
  }
  terminal.out << "A server of its own at " << (*server)->url()
               << ", in a directory that goes when it ends. Ctrl-C ends it." << std::endl;
  bool ended = false;
  DemoStory story(*session, (*server)->downstream(), [&](Duration time) {
    ended = ended || !signals.wait(time);
    return !ended;
  });
  const bool told = story.tell();
  if (ended) return 0;
  if (!told) return static_cast<int>(cli::ExitCode::kFailure);
  story.part();
  if (flags.seconds >= 0) {
    (void)signals.wait(std::chrono::seconds(flags.seconds));
  } else {
    signals.wait_for_one();
  }
  return 0;
}

}  // namespace

void add_demo_command(CLI::App& program, cli::Terminal& terminal, std::function<int()>& chosen) {
  const auto flags = std::make_shared<DemoFlags>();
  CLI::App& command =
      cli::add_command(program, "demo", "Watch tasks fail, wait and recover, in ten seconds",
                       {"recourse demo", "recourse demo --seconds 0"});
  command
      .add_option("--seconds", flags->seconds, "End so long after the story (default: at Ctrl-C)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command.callback([&chosen, &terminal, flags] {
    chosen = [&terminal, flags] { return demo(terminal, *flags); };
  });
}

}  // namespace recourse::app
