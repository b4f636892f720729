// Orders go on while the points service is down, and every order gets its points once.
//
//   points_order [STORE]      sqlite:FILE, postgres://..., mysql://..., or memory: (the default)
//
// The waits are short here, so that it ends soon; the defaults are a minute, two and four.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include "examples/points_order_service.h"

using namespace std::chrono_literals;

namespace {

bool wait_until(const std::function<bool()>& holds) {
  for (int i = 0; i < 400 && !holds(); ++i) std::this_thread::sleep_for(50ms);
  return holds();
}

bool expect(bool holds, const char* what) {
  std::printf("%s: %s\n", what, holds ? "yes" : "NO");
  return holds;
}

recourse::KindOptions quick() {
  recourse::KindOptions options = recourse::Degrade::preset();
  options.backoff_base = 50ms;
  options.backoff_min = 10ms;
  return options;
}

void print(const recourse::FailureRecord& record) {
  std::printf("  %s %s of %s for %s: %s after %d of %d retries, %s\n", record.status.c_str(),
              record.type.c_str(), record.member.c_str(), record.related_id.c_str(),
              record.failure_reason.c_str(), record.retries, record.max_retries,
              record.last_error.c_str());
}

bool tell_the_story(recourse::Degrade& degrade, PointsService& points, OrderService& orders) {
  const auto say = [](const std::string& text) { std::printf("%s\n", text.c_str()); };
  say(orders.pay("order-1", "m-1", 1'000));

  points.set_down(true);
  for (int i = 2; i <= 6; ++i) say(orders.pay("order-" + std::to_string(i), "m-1", 1'000));

  // Nobody has repaired it when the retries are used up.
  const auto failed = [&] { return degrade.summary().value().failed; };
  bool well = expect(wait_until([&] { return failed() == 5; }), "a person has to look at five");
  const recourse::FailurePage page = degrade.list({.status = "FAILED", .member = "m-1"}, 2).value();
  for (const recourse::FailureRecord& record : page.records) print(record);

  points.set_down(false);
  const std::string one = page.records.front().id;
  well &= expect(degrade.retry(one, "alice").has_value(), "one is retried by hand");
  const auto status = [&] { return degrade.find(one).value().status; };
  well &= expect(wait_until([&] { return status() == "COMPLETED"; }), "it is completed");
  well &= expect(!degrade.retry(one, "alice"), "a completed one is refused");
  const auto many = degrade.retry_all({}, 1'000, "alice").value();
  well &= expect(many.retried == 4, "the other four are retried at once");
  well &= expect(wait_until([&] { return degrade.summary().value().completed == 5; }),
                 "all of them are completed");
  well &= expect(points.balance_of("m-1") == 600, "every order got its points, once");
  well &= expect(degrade.clean(0s, "alice").value() == 5, "five completed records are cleaned up");
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  const auto points = std::make_shared<PointsService>();
  const auto spool =
      std::filesystem::temp_directory_path() / ("points_order-" + std::to_string(::getpid()));
  auto engine = recourse::Engine::open({.store = argc > 1 ? argv[1] : "memory:",
                                        .log = [](std::string_view, std::string_view) {}})
                    .value();
  auto degrade =
      recourse::Degrade::on(engine, {.first_retry_after = 50ms, .spool = spool.string()}).value();
  degrade.handle<Grant>(
      "grant-points",
      [points](const recourse::Attempt& attempt, const Grant& grant) {
        return points->grant(attempt.id(), grant.member, grant.amount) >= 0;
      },
      quick());
  // Points that expire are work for the same queue, never for whoever happens to look at them.
  degrade.handle<Grant>("expire-points",
                        [points](const recourse::Attempt& attempt, const Grant& grant) {
                          points->expire(attempt.id(), grant.member, grant.amount);
                          return true;
                        });
  engine.schedule({.name = "expire-points", .when = "@yearly", .kind = "expire-points"},
                  Grant{"m-1", 0});
  engine.start().value();

  OrderService orders(degrade, points);
  const bool well = tell_the_story(degrade, *points, orders);
  engine.stop(5s);
  std::error_code ignored;
  std::filesystem::remove_all(spool, ignored);
  return well ? 0 : 1;
}
