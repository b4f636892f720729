#include "cli/screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "cli/display_text.h"

namespace recourse::cli {
namespace {

// Another page than the one that was there, without a cursor; and back.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
// Cleared first: what a resized window pushed aside would stay.
constexpr std::string_view kLeave = "\x1b[2J\x1b[?25h\x1b[?1049l";
constexpr std::string_view kClear = "\x1b[2J";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearToLineEnd = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";
constexpr std::string_view kPlainStyle = "\x1b[0m";
constexpr std::string_view kEllipsis = "\u2026";
// Windows tell of a change by a signal that may reach any thread: looking is simpler.
constexpr Duration kKeyLookEvery = std::chrono::milliseconds(100);
constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// A signal's handler reaches nothing else. Set before the handlers are, and not while they are.
termios before{};
termios during{};
bool has_keys = false;
// What was done with each signal before.
std::array<struct sigaction, kEnding.size() + 1> inherited{};
// By the handler: the window has to be drawn anew.
volatile std::sig_atomic_t is_back = 0;

// Only what a signal's handler may call.
void occupy() {
  if (has_keys) (void)::tcsetattr(STDIN_FILENO, TCSANOW, &during);
  (void)!::write(STDOUT_FILENO, kEnter.data(), kEnter.size());
}

void restore() {
  (void)!::write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  if (has_keys) (void)::tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  (void)::sigaction(signal, &action, nullptr);
}

// Ends as if there had been no handler, so that whoever waits for us sees the signal.
void end_by(int signal) {
  restore();
  set_handler(signal, SIG_DFL);
  (void)::raise(signal);
}

// Stops as if there had been no handler, and goes on from here. The signal is blocked while its
// handler runs, and would stop nothing.
void stop_by(int signal) {
  const int error = errno;
  restore();
  set_handler(signal, SIG_DFL);
  sigset_t only{};
  (void)::sigemptyset(&only);
  (void)::sigaddset(&only, signal);
  sigset_t blocked{};
  (void)::raise(signal);
  (void)::pthread_sigmask(SIG_UNBLOCK, &only, &blocked);
  (void)::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  set_handler(signal, stop_by);
  occupy();
  is_back = 1;
  errno = error;
}

// One that is ignored stays so.
void take_signal(int signal, void (*handler)(int), struct sigaction& old) {
  (void)::sigaction(signal, nullptr, &old);
  if (old.sa_handler != SIG_IGN) set_handler(signal, handler);
}

void take_signals() {
  for (std::size_t i = 0; i < kEnding.size(); ++i) take_signal(kEnding[i], end_by, inherited[i]);
  take_signal(SIGTSTP, stop_by, inherited.back());
}

void give_signals_back() {
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    (void)::sigaction(kEnding[i], &inherited[i], nullptr);
  }
  (void)::sigaction(SIGTSTP, &inherited.back(), nullptr);
}

// Of a line with colours: they take no room, and end with it.
std::string cut_line(std::string_view line, std::size_t width) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
    } else {
      plain += line[i];
    }
  }
  if (width_of(plain) <= width) return std::string(line);
  // Bytes of the text that stay before the ellipsis.
  std::size_t left = width == 0 ? 0 : cut_to(plain, width).size() - kEllipsis.size();
  std::string result;
  for (std::size_t i = 0; i < line.size() && left > 0; ++i) {
    const bool is_color = line[i] == '\x1b';
    const std::size_t size = is_color ? line.find('m', i) + 1 - i : 1;
    result += line.substr(i, size);
    i += size - 1;
    if (!is_color) --left;
  }
  return result.append(width == 0 ? "" : kEllipsis).append(kPlainStyle);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string fit_picture(std::string_view text, std::string_view last, const Window& window) {
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t shown = std::min(lines.size(), std::max<std::size_t>(window.rows, 1) - 1);
  std::string picture;
  for (std::size_t i = 0; i < shown; ++i) {
    // Cleared before it is written: behind a full line there is no place to stand.
    picture.append(kClearToLineEnd).append(cut_line(lines[i], window.columns)).append("\n");
  }
  std::string end(last);
  if (shown < lines.size())
    end += fmt::format("; {} more in a larger window", lines.size() - shown);
  return picture.append(kClearBelow).append(cut_line(end, window.columns));
}

Screen::Screen(Terminal& terminal) : terminal_(terminal) {
  has_keys = terminal.in_is_terminal && ::tcgetattr(STDIN_FILENO, &before) == 0;
  during = before;
  during.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  is_back = 0;
  terminal_.out << std::flush;
  take_signals();
  occupy();
}

Screen::~Screen() {
  terminal_.out << std::flush;
  restore();
  give_signals_back();
}

Window Screen::window() const { return {terminal_.width(), terminal_.height()}; }

void Screen::draw(std::string_view text, std::string_view last) {
  // Over what stands there, so that nothing flickers; anew where the window has changed.
  if (const Window now = window(); now != std::exchange(drawn_, now)) terminal_.out << kClear;
  terminal_.out << kHome << fit_picture(text, last, drawn_) << std::flush;
}

std::optional<char> Screen::wait(Duration time) {
  const TimePoint end = terminal_.now() + time;
  while (window() == drawn_) {
    if (is_back != 0) {
      is_back = 0;
      drawn_ = {.columns = 0, .rows = 0};
      return std::nullopt;
    }
    const Duration left = std::min(end - terminal_.now(), kKeyLookEvery);
    if (left <= Duration::zero()) return std::nullopt;
    pollfd keys{.fd = has_keys ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
    const auto patience = std::chrono::ceil<std::chrono::milliseconds>(left);
    if (::poll(&keys, 1, static_cast<int>(patience.count())) <= 0) continue;
    char key = 0;
    return ::read(STDIN_FILENO, &key, 1) == 1 ? key : kEndOfInput;
  }
  return std::nullopt;
}

}  // namespace recourse::cli
