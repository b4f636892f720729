#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/duration_text.h"
#include "cli/display_text.h"

namespace recourse::cli {
namespace {

constexpr std::size_t kBarMax = 40;
constexpr std::size_t kBarMin = 5;

std::string time_left(const ProgressState& state, std::size_t total) {
  // The first hundredth says little about the rest.
  if (state.done == 0 || state.done >= total || state.done * 100 < total) return {};
  const double rest = static_cast<double>(total - state.done) / static_cast<double>(state.done);
  const auto left = std::chrono::floor<std::chrono::seconds>(saturating_scale(state.elapsed, rest));
  return fmt::format("  about {} left", format_duration(left + std::chrono::seconds(1)));
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t width) {
  const std::string label = printable(state.label);
  if (!state.total || *state.total == 0) {
    return cut_to(fmt::format("{}  {}", label, grouped(state.done)), width);
  }
  const std::size_t done = std::min(state.done, *state.total);
  const double share = static_cast<double>(done) / static_cast<double>(*state.total);
  const std::string figures =
      fmt::format("{:>3}%  {} of {}{}", static_cast<int>(share * 100), grouped(done),
                  grouped(*state.total), time_left(state, *state.total));
  const std::size_t fixed = width_of(label) + figures.size() + 6;  // gaps and brackets
  const std::size_t room = width > fixed ? std::min(width - fixed, kBarMax) : 0;
  if (room < kBarMin) return cut_to(fmt::format("{}  {}", label, figures), width);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(room));
  return fmt::format("{}  [{}{}]  {}", label, std::string(filled, '#'),
                     std::string(room - filled, ' '), figures);
}

Progress::Progress(std::ostream& out, std::optional<std::size_t> width, std::string label,
                   std::optional<std::size_t> total, TimePoint start)
    : out_(out),
      width_(width),
      label_(std::move(label)),
      total_(total),
      start_(start),
      next_(start + kFirstAfter) {}

Progress::~Progress() { clear(); }

void Progress::update(std::size_t done, TimePoint now) {
  if (!width_ || now < next_) return;
  next_ = now + kEvery;
  drawn_ = true;
  // One cell less: a full line would make some terminals begin another.
  const ProgressState state{
      .label = label_, .done = done, .total = total_, .elapsed = now - start_};
  out_ << "\r\x1b[K" << progress_line(state, *width_ - std::min<std::size_t>(*width_, 1))
       << std::flush;
}

void Progress::clear() {
  if (!std::exchange(drawn_, false)) return;
  out_ << "\r\x1b[K" << std::flush;
}

}  // namespace recourse::cli
