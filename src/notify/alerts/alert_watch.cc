#include "notify/alerts/alert_watch.h"

#include <array>
#include <chrono>
#include <utility>

#include "base/thread_name.h"
#include "store/limits.h"

namespace recourse::notify {
namespace {

// Of one call to the store: a server that stops waits for it.
constexpr Duration kAlertPatience = std::chrono::seconds(3);

}  // namespace

AlertWatch::AlertWatch(AlertWatchSettings settings, AlertSources sources, store::Records& records,
                       Fire fire, UlidSource& ids, const Clock& clock, Log& log)
    : settings_(std::move(settings)),
      records_(records),
      fire_(std::move(fire)),
      ids_(ids),
      log_(log),
      desk_(std::make_shared<Desk>()),
      figures_(std::move(sources), clock) {
  {
    const MutexLock lock(desk_->mutex);
    const AlertTimes times = times_for(settings_.look_every);
    for (const AlertDefinition& alert : settings_.alerts) desk_->alerts.emplace_back(alert, times);
  }
  const MutexLock lock(joining_);
  if (!settings_.alerts.empty()) thread_ = std::thread([this] { run(); });
}

AlertWatch::~AlertWatch() { stop(); }

void AlertWatch::stop() {
  {
    const MutexLock lock(desk_->mutex);
    desk_->stopping = true;
    desk_->changed.notify_all();
  }
  stop_.request_stop();
  const MutexLock lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void AlertWatch::run() {
  name_this_thread("alerts");
  bool was_down = false;
  while (!wait()) {
    const Result<> looked = look();
    if (stop_.stop_requested()) return;
    if (!looked && !std::exchange(was_down, true)) {
      const std::array<LogField, 1> fields{{{"error", looked.error().message}}};
      log_.write(LogLevel::kWarning, "alerts_not_looked_at", fields);
    }
    if (looked) was_down = false;
  }
}

bool AlertWatch::wait() {
  Desk& desk = *desk_;
  const MutexLock lock(desk.mutex);
  const auto until = std::chrono::steady_clock::now() + settings_.look_every;
  while (!desk.stopping &&
         desk.changed.wait_until(desk.mutex, until) == std::cv_status::no_timeout) {
  }
  return desk.stopping;
}

Result<> AlertWatch::look() {
  const MutexLock lock(looking_);
  const auto read = figures_.read(settings_.alerts, kAlertPatience, stop_.get_token());
  if (!read) return fail(read.error());
  const auto stored = read_stored();
  if (!stored) return fail(stored.error());
  for (std::size_t place = 0; place < settings_.alerts.size(); ++place) {
    if (stop_.stop_requested()) break;
    const auto found = stored->find(record_name(settings_.alerts[place], settings_.sayer.node));
    const Stored* one = found == stored->end() ? nullptr : &found->second;
    if (Result<> looked = look_at(place, (*read)[place], one); !looked) return looked;
  }
  return {};
}

Result<std::map<std::string, AlertWatch::Stored>> AlertWatch::read_stored() {
  std::map<std::string, Stored> all;
  std::optional<std::string> after;
  do {
    auto page = records_.list(kAlertSpace, after, store::kPageRowsMax, kAlertPatience);
    if (!page) return fail(page.error());
    for (store::Record& record : page->records) {
      std::string name = record.name;
      auto state = parse_alert_state(record.value);
      all.emplace(std::move(name), Stored{std::move(record), std::move(state)});
    }
    after = page->next;
  } while (after);
  return all;
}

void AlertWatch::record_told() {
  const MutexLock lock(looking_);
  const auto stored = read_stored();
  if (!stored) return;
  for (std::size_t place = 0; place < settings_.alerts.size(); ++place) {
    const auto found = stored->find(record_name(settings_.alerts[place], settings_.sayer.node));
    if (found == stored->end()) continue;
    std::optional<AlertState> told;
    {
      const MutexLock desk_lock(desk_->mutex);
      told = desk_->alerts[place].told_mark(found->second.state, figures_.store_now());
    }
    // Where it cannot be written, people are told once more, under the same id.
    if (told && !write(found->first, *told, &found->second)) return;
  }
}

Result<> AlertWatch::look_at(std::size_t place, double figure, const Stored* stored) {
  const AlertLook look{.steady = figures_.steady_now(),
                       .wall = figures_.store_now(),
                       .figure = figure,
                       .stored = stored == nullptr ? std::nullopt : stored->state,
                       .fresh_id = "alt_" + to_string(ids_.next()),
                       .node = settings_.sayer.node};
  std::optional<AlertStep> step;
  {
    const MutexLock lock(desk_->mutex);
    step = desk_->alerts[place].look(look);
  }
  if (!step) return {};
  const std::string name = record_name(settings_.alerts[place], settings_.sayer.node);
  const Result<bool> written = write(name, step->write, stored);
  if (!written) return fail(written.error());
  if (*written && step->tell) tell(place, step->write);
  return {};
}

Result<bool> AlertWatch::write(const std::string& name, const AlertState& state,
                               const Stored* stored) {
  store::Record record{
      .space = std::string(kAlertSpace), .name = name, .value = to_value(state), .version = 1};
  const Duration kept = times_for(settings_.look_every).kept;
  if (stored == nullptr) {
    const auto added = records_.add(record, kept, kAlertPatience);
    if (!added) return fail(added.error());
    return added->added;
  }
  record.version = stored->record.version;
  const auto replaced = records_.replace(record, kept, kAlertPatience);
  if (replaced) return true;
  const ErrorCode code = replaced.error().code;
  if (code == ErrorCode::kConflict || code == ErrorCode::kNotFound) return false;
  return fail(replaced.error());
}

void AlertWatch::tell(std::size_t place, const AlertState& state) {
  {
    const MutexLock lock(desk_->mutex);
    desk_->alerts[place].telling(state);
  }
  const AlertDefinition& alert = settings_.alerts[place];
  const std::array<LogField, 2> fields{{{"alert", alert.name}, {"subject", subject_of(alert)}}};
  log_.write(LogLevel::kInfo, state.firing ? "alert_fired" : "alert_cleared", fields);
  // Ends on any thread, within fire() too.
  fire_(notice_of(alert, state, settings_.sayer), [desk = desk_, place,
                                                   id = state.id](const Ending& end) {
    const MutexLock lock(desk->mutex);
    desk->alerts[place].ended(id, end.fate == Fate::kDelivered || end.fate == Fate::kUnwanted);
  });
}

}  // namespace recourse::notify
