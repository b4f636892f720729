#include "notify/notifier.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"
#include "notify/notifier_state.h"

namespace recourse::notify {
namespace {

Result<> check_names(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty() || !is_plain_text(name) || name.size() > kNameCharactersMax) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("a channel's name must be a short plain text, not {}", shown(name)));
    }
    if (!seen.insert(name).second) {
      return fail(ErrorCode::kInvalid, fmt::format("two channels have the name {}", shown(name)));
    }
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<std::shared_ptr<Channel>>& channels) {
  std::vector<std::string> names;
  names.reserve(channels.size());
  for (const auto& channel : channels) names.push_back(channel->name());
  return names;
}

}  // namespace

Result<> validate(const NotifierSettings& settings,
                  const std::vector<std::string>& known_channels) {
  if (Result<> names = check_names(known_channels); !names) return names;
  if (Result<> masking = validate(settings.masking); !masking) return masking;
  if (Result<> quiet = validate(settings.quiet_hours); !quiet) return quiet;
  if (Result<> rate = validate(settings.rate_limit); !rate) return rate;
  if (Result<> dispatch = validate(settings.dispatch); !dispatch) return dispatch;
  return validate(settings.router, known_channels);
}

Notifier::Notifier() = default;
Notifier::Notifier(std::unique_ptr<State> state) : state_(std::move(state)) {}
Notifier::~Notifier() = default;

Result<std::unique_ptr<Notifier>> Notifier::make(NotifierSettings settings, NotifierParts parts,
                                                 const Clock& clock, Log& log) {
  if (const Result<> valid = validate(settings, names_of(parts.channels)); !valid) {
    return fail(valid.error());
  }
  Result<Masker> masker = Masker::make(settings.masking);
  if (!masker) return fail(std::move(masker).error());
  if (!parts.router) parts.router = std::make_unique<RuleRouter>(settings.router);
  std::vector<std::unique_ptr<Filter>> filters = std::move(parts.filters);
  auto state = std::make_unique<State>(std::move(settings), std::move(parts), *std::move(masker),
                                       clock, log);
  if (Result<> added = state->add_filters(std::move(filters)); !added) {
    return fail(std::move(added).error());
  }
  return std::unique_ptr<Notifier>(new Notifier(std::move(state)));
}

void Notifier::fire(Notice notice, Ended ended) noexcept {
  if (state_ == nullptr) return tell(ended, {Fate::kUnwanted});
  try {
    state_->fire(std::move(notice), ended);
  } catch (...) {
    // Out of memory: whoever waits hears of it, where that still works.
    tell(ended, {Fate::kDropped});
  }
}

Result<> Notifier::test(std::string_view channel, const Notice& notice,
                        const std::stop_token& stop) {
  if (state_ == nullptr) {
    return fail(ErrorCode::kInvalid, "notifications are switched off: no channel can be tried");
  }
  return state_->test(channel, notice, stop);
}

void Notifier::stop(Duration within) {
  if (state_ != nullptr) state_->stop(within);
}

NotifierCounts Notifier::counts() const {
  return state_ == nullptr ? NotifierCounts{} : state_->counts();
}

std::vector<std::pair<std::string, policy::BreakerState>> Notifier::channels() const {
  if (state_ == nullptr) return {};
  return state_->channels();
}

std::vector<ChannelStatus> Notifier::statuses() const {
  if (state_ == nullptr) return {};
  return state_->statuses();
}

void Notifier::look_at_held_back() noexcept {
  try {
    if (state_ != nullptr) state_->look_at_held_back();
  } catch (...) {
    // Out of memory: what is held back is looked at again.
  }
}

}  // namespace recourse::notify
