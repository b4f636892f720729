#include "guard/sql_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/invariant.h"
#include "base/text.h"
#include "guard/sweep.h"
#include "guard/values_of.h"
#include "store/countdown.h"

namespace recourse::guard {
namespace {

constexpr Duration kFirstLockPause = std::chrono::milliseconds(5);
constexpr Duration kLongestLockPause = std::chrono::milliseconds(500);

RowId fitting(Result<RowId> value) {
  invariant(value.has_value(), "settings fit the table they were checked against");
  return *std::move(value);
}

bool is_worth_another_try(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kUnavailable ||
         error.code == ErrorCode::kInDoubt || error.code == ErrorCode::kExhausted;
}

Result<TimeZone> zone_of(const Dialect& dialect, sql::Connection& connection,
                         const GuardSettings& settings) {
  if (!settings.time_zone.empty()) {
    Result<TimeZone> zone = TimeZone::load(settings.time_zone);
    if (zone) return zone;
    return fail(zone.error().code, "guard.time_zone: " + zone.error().message);
  }
  const Result<std::string> name = dialect.zone(connection);
  if (!name) return fail(name.error());
  Result<TimeZone> zone = TimeZone::load(*name);
  if (zone) return zone;
  // CST alone stands for four zones.
  return fail(ErrorCode::kInvalid,
              fmt::format("guard.time_zone must say in which zone {} keeps its times, such as "
                          "Asia/Shanghai: the database only says {}",
                          settings.table, shown(*name)));
}

Result<Layout> layout_of(const Dialect& dialect, sql::Connection& connection,
                         const std::string& table) {
  Result<std::optional<Layout>> layout = dialect.layout(connection, table);
  if (!layout) return fail(layout.error());
  if (*layout) return **std::move(layout);
  return fail(ErrorCode::kInvalid,
              fmt::format("guard.table must name a table of this database exactly, and there is no "
                          "{}",
                          shown(table)));
}

}  // namespace

SqlTable::View::View(Shape seen, const Dialect& dialect, const std::string& skip_locked,
                     const GuardSettings& settings)
    : shape(std::move(seen)),
      statements(shape, dialect, skip_locked),
      success(fitting(value_of(shape.status, settings.success_value))),
      fail(fitting(value_of(shape.status, settings.fail_value))) {}

SqlTable::SqlTable(std::shared_ptr<Database> database, GuardSettings settings, MovedClock moved,
                   Found found)
    : database_(std::move(database)),
      settings_(std::move(settings)),
      clocks_(std::move(found.clocks)),
      moved_(std::move(moved)),
      skip_locked_(std::move(found.skip_locked)),
      seen_(std::make_shared<const View>(std::move(found.shape), database_->dialect(), skip_locked_,
                                         settings_)) {}

Result<SqlTable::Found> SqlTable::look(const Dialect& dialect, sql::Connection& connection,
                                       const GuardSettings& settings) {
  const Result<Layout> layout = layout_of(dialect, connection, settings.table);
  if (!layout) return fail(layout.error());
  Result<Shape> shape = shape_of(*layout, dialect, settings);
  if (!shape) return fail(shape.error());
  Result<TimeZone> zone = zone_of(dialect, connection, settings);
  if (!zone) return fail(zone.error());
  Result<std::string> skip_locked = dialect.skip_locked(connection);
  if (!skip_locked) return fail(skip_locked.error());
  return Found{.clocks = {.wall = WallClock(*std::move(zone))},
               .skip_locked = *std::move(skip_locked),
               .shape = *std::move(shape)};
}

Result<std::unique_ptr<SqlTable>> SqlTable::open(std::shared_ptr<Database> database,
                                                 GuardSettings settings, MovedClock moved,
                                                 Duration within) {
  settings = named(std::move(settings));
  if (Result<> valid = validate(settings); !valid) return fail(valid.error());
  std::optional<Found> found;
  const Result<> looked = database->use(within, [&](sql::Connection& connection) -> Result<> {
    Result<Found> seen = look(database->dialect(), connection, settings);
    if (!seen) return fail(seen.error());
    found.emplace(*std::move(seen));
    return {};
  });
  if (!looked) return fail(looked.error());
  return std::unique_ptr<SqlTable>(
      new SqlTable(std::move(database), std::move(settings), std::move(moved), *std::move(found)));
}

SqlTable::Seen SqlTable::seen() const {
  MutexLock lock(mutex_);
  return seen_;
}

std::int64_t SqlTable::promoted_up_to() const {
  MutexLock lock(mutex_);
  return promoted_up_to_;
}

void SqlTable::set_promoted_up_to(std::int64_t window) {
  MutexLock lock(mutex_);
  promoted_up_to_ = window;
}

Result<SqlTable::Seen> SqlTable::ready() const {
  Seen view = seen();
  if (view->shape.missing.empty()) return view;
  std::string names;
  for (const GuardColumn* column : view->shape.missing)
    names.append(names.empty() ? "" : ", ").append(column->name);
  return fail(
      ErrorCode::kInvalid,
      fmt::format("the table {} has no {}: add the guard's columns first", settings_.table, names));
}

Result<> SqlTable::look_again(sql::Connection& connection) {
  const Result<Layout> layout = layout_of(dialect(), connection, settings_.table);
  if (!layout) return fail(layout.error());
  Result<Shape> shape = shape_of(*layout, dialect(), settings_);
  if (!shape) return fail(shape.error());
  Seen view = std::make_shared<const View>(*std::move(shape), dialect(), skip_locked_, settings_);
  MutexLock lock(mutex_);
  seen_ = std::move(view);
  return {};
}

std::optional<Refusal> SqlTable::take_refusal() {
  MutexLock lock(mutex_);
  return std::exchange(refusal_, std::nullopt);
}

Result<> SqlTable::finish(Sweep& sweep) {
  if (Result<> finished = sweep.finish(); !finished) return finished;
  if (!sweep.refusal()) return {};
  MutexLock lock(mutex_);
  if (!refusal_) refusal_ = sweep.refusal();
  return {};
}

Result<> SqlTable::attempt(Duration within, Try work) const {
  const store::Countdown time(within);
  Duration pause = kFirstLockPause;
  bool again = false;
  while (true) {
    Result<> done = database_->use(
        time.left(), [&](sql::Connection& connection) { return work(connection, again); });
    if (done || !is_worth_another_try(done.error())) return done;
    // A wait for a lock that the deadline cuts short would cost the connection.
    const bool is_locked = done.error().code == ErrorCode::kExhausted;
    if (time.left() <= pause + (is_locked ? Duration(kLockWait) : Duration::zero())) return done;
    again = true;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestLockPause);
  }
}

Result<TimePoint> SqlTable::now_on(sql::Connection& connection) const {
  Result<TimePoint> now = dialect().now(connection);
  if (now && moved_) return moved_(*now);
  return now;
}

TimePoint SqlTable::kept(const Column& column, TimePoint moment) const {
  const WallClock& clock = clocks_.of(column);
  return clock.read(clock.written(moment)).value_or(moment);
}

Result<std::optional<Row>> SqlTable::find_on(sql::Connection& connection, const View& view,
                                             const RowId& id, Rows rows) const {
  Values values;
  values.id(view.fail).id(view.success).id(id);
  std::optional<Row> found;
  const Result<> asked = connection.query(
      rows == Rows::kFree ? view.statements.find_free : view.statements.find, values.view(),
      [&](const sql::Row& row) { found = read_row(row, view.shape, settings_, clocks_); });
  if (!asked) return fail(asked.error());
  return found;
}

Result<std::optional<Row>> SqlTable::find(const RowId& given, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Result<RowId> id = parse_id(to_string(given));
  if (!id) return fail(id.error());
  std::optional<Row> found;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    auto answer = find_on(connection, **view, *id);
    if (!answer) return fail(answer.error());
    found = *std::move(answer);
    return {};
  });
  if (!done) return fail(done.error());
  return found;
}

Result<TimePoint> SqlTable::now(Duration within) {
  TimePoint now;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    const Result<TimePoint> answer = now_on(connection);
    if (!answer) return fail(answer.error());
    now = *answer;
    return {};
  });
  if (!done) return fail(done.error());
  return now;
}

Result<RowId> SqlTable::parse_id(const std::string& text) {
  Result<RowId> id = value_of(seen()->shape.id, text);
  if (id) return id;
  return fail(id.error().code, "the id " + id.error().message);
}

Result<std::unique_ptr<GuardedTable>> open_table(std::shared_ptr<Database> database,
                                                 const GuardSettings& settings, Duration within,
                                                 MovedClock moved) {
  auto opened = SqlTable::open(std::move(database), settings, std::move(moved), within);
  if (!opened) return fail(opened.error());
  return std::unique_ptr<GuardedTable>(*std::move(opened));
}

Result<std::unique_ptr<GuardedTable>> open_table(const std::string& url,
                                                 const GuardSettings& settings, Duration within,
                                                 MovedClock moved) {
  Result<std::unique_ptr<Database>> database = open_database(url);
  if (!database) return fail(database.error());
  return open_table(std::shared_ptr<Database>(*std::move(database)), settings, within,
                    std::move(moved));
}

Result<std::unique_ptr<GuardedTable>> open_table(store::Creates& creates,
                                                 const GuardSettings& settings, Duration within,
                                                 MovedClock moved) {
  return open_table(std::shared_ptr<Database>(database_of(creates)), settings, within,
                    std::move(moved));
}

Result<std::shared_ptr<Database>> Databases::shared(const std::string& url) {
  const std::string place = place_of(url);
  const MutexLock lock(mutex_);
  if (auto open = open_[place].lock()) return open;
  Result<std::unique_ptr<Database>> opened = open_database(url);
  if (!opened) return fail(opened.error());
  std::shared_ptr<Database> database = *std::move(opened);
  open_[place] = database;
  return database;
}

Result<std::unique_ptr<GuardedTable>> Databases::open_table(const std::string& url,
                                                            const GuardSettings& settings,
                                                            Duration within) {
  Result<std::shared_ptr<Database>> database = shared(url);
  if (!database) return fail(database.error());
  return guard::open_table(*std::move(database), settings, within);
}

}  // namespace recourse::guard
