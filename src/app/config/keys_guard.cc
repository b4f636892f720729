// The keys of a guard: the words of the source's annotation, and what a server needs besides.
#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongest = 24h * 365;

std::string check_identifier(std::string_view text) {
  if (guard::is_identifier(text)) return {};
  return "must be a name of letters, digits and underscores, as the database has it";
}

// `handle: URL`, or its keys below it.
Keys call_keys(HttpTarget& target, std::string_view about, std::string_view example) {
  const Place<std::string> bare{[]() -> std::optional<std::string> { return std::nullopt; },
                                [&target](const std::string& url) { target.url = url; }};
  Keys keys{
      text("", bare, {about, Reload::kRestart, example}, check_url),
      text("url", at(target.url), {"Where it is sent.", Reload::kRestart, example}, check_url)};
  for (Key& key : request_keys(target)) keys.push_back(std::move(key));
  return keys;
}

Keys table_keys(guard::GuardSettings& settings) {
  return {
      required(text("table", at(settings.table), {"The table.", Reload::kRestart, "user_bill"},
                    check_identifier)),
      text("service-name", at(settings.service_name),
           {"What people call it, in any language; the guard's name where not given.",
            Reload::kRestart, "账单异常"}),
      text("id-field", at(settings.id_field), {"The column of its key."}, check_identifier),
      text("user-field", at(settings.user_field),
           {"The column of who a row belongs to; without it nobody can be asked about.",
            Reload::kRestart, "user_id"},
           check_identifier),
      required(text("status-field", at(settings.status_field),
                    {"The column that says how the business stands.", Reload::kRestart, "status"},
                    check_identifier)),
      required(text("success-value", at(settings.success_value),
                    {"What it holds when all is well.", Reload::kRestart, "SUCCESS"})),
      required(text("fail-value", at(settings.fail_value),
                    {"What it holds when a row is stuck; only such rows are retried.",
                     Reload::kRestart, "FAIL"})),
  };
}

Keys patience_keys(guard::GuardSettings& settings) {
  return {
      seconds("min-interval-seconds", at(settings.min_interval), 1s, kLongest,
              {"The wait before the first retry; before the second it is twice as long, and so "
               "on. Whole seconds. A row's err_min_interval wins."}),
      seconds("timeout-seconds", at(settings.timeout_window), 1s, kLongest,
              {"How long after its first error a row is retried; then a person has to look. Whole "
               "seconds. A row's err_timeout wins."}),
      integer("max-retry-count", at(settings.max_retries), 0, 1'000,
              {"Retries after the first run; then a person has to look."}),
      seconds("manual-remind-interval-seconds", at(settings.remind_every), 1s, kLongest,
              {"How long after the first message a person is reminded; the second time after "
               "twice as long, and so on. Whole seconds."}),
      seconds("scan-interval-seconds", at(settings.scan_every), 1s, 24h,
              {"How often the table is scanned; abnormal.retry.scan-interval-seconds where not "
               "given."}),
      seconds("attempt-timeout", at(settings.attempt_timeout), 1s, 1h,
              {"How long a run of check, handle and check may take."}),
  };
}

}  // namespace

GuardConfig new_guard(const std::string& name, const Config& config) {
  GuardConfig guard;
  guard.settings.name = name;
  guard.settings.scan_every = config.abnormal.scan_interval;
  guard.lane = config.defaults.settings;
  return guard;
}

Keys guard_keys(GuardConfig& guard) {
  guard::GuardSettings& settings = guard.settings;
  Keys keys = table_keys(settings);
  for (Key& key : patience_keys(settings)) keys.push_back(std::move(key));
  keys.push_back(text("manual-success-route", at(settings.manual_success_route),
                      {"POST here with ?dataId=ID says that a person has mended a row; no such "
                       "route where not given.",
                       Reload::kRestart, "/api/admin/bill/manual-success"},
                      check_route));
  keys.push_back(text("time-zone", at(settings.time_zone),
                      {"The zone in which the table keeps its times; the database's own where not "
                       "given.",
                       Reload::kRestart, "Asia/Shanghai"},
                      check_zone));
  keys.push_back(store_url(
      "database", at(guard.database),
      {"Where the table is; store.url where not given.", Reload::kRestart, "sqlite:shop.db"}));
  append(keys, "check",
         call_keys(guard.check,
                   "Asked whether a row is well, before and after it is handled: a signed POST of "
                   "{\"guard\", \"table\", \"id\"}, answered by {\"success\": true} or false. "
                   "Without it the row's own status says so, and what handle answers.",
                   "https://shop.example.com/bill/check"));
  append(
      keys, "handle",
      call_keys(guard.handle, "Asked to mend a row: the same POST; any 2xx says that it was tried.",
                "https://shop.example.com/bill/handle"));
  for (Key& key : lane_keys(guard.lane)) keys.push_back(std::move(key));
  return keys;
}

}  // namespace recourse::app
