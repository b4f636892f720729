// Bills go on while the bank is down: stuck ones heal themselves, and what cannot be healed comes
// before a person.
//
//   user_bill [STORE]      sqlite:FILE (the default: one of its own), postgres://..., mysql://...
//
// The table user_bill is the service's own; here it is in the same database as the engine's store.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "examples/user_bill_service.h"

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

// A person's e-mail, in a program: it prints.
class Mail : public recourse::NoticeChannel {
 public:
  [[nodiscard]] std::string name() const override { return "mail"; }
  recourse::Result<> send(const recourse::Notice& notice, std::stop_token) override {
    std::printf("  mail: %s of %s needs a person (%s), reminder %d\n",
                notice.attributes.at("row").c_str(), notice.attributes.at("service").c_str(),
                notice.error.c_str(), notice.reminder);
    return {};
  }
};

bool tell_the_story(UserBillService& bills, Bank& bank) {
  const auto say = [&](std::int64_t bill, std::int64_t user) {
    std::printf("bill %lld of user %lld: %s\n", static_cast<long long>(bill),
                static_cast<long long>(user), bills.pay(bill, user, 10).c_str());
  };
  const auto status_of = [&](std::int64_t bill) {
    return bills.explain(bill).value().row.err_status.value_or(2000);
  };
  say(1, 1000);

  bank.set_down(true);
  say(2, 1000);
  say(3, 1000);
  bool well = expect(!bills.check_user_err("1000"), "user 1000 settles bill 2 first");
  std::printf("  %s\n", bills.explain(2).value().why.c_str());
  bank.set_down(false);
  well &= expect(wait_until([&] { return status_of(2) == 2001; }), "bill 2 has healed itself");
  well &= expect(bills.check_user_err("1000").has_value(), "user 1000 may go on");

  bank.refuse(4);
  say(4, 2000);
  well &= expect(wait_until([&] { return status_of(4) == 4001; }), "bill 4 needs a person");
  const auto reminders = [&] { return bills.explain(4).value().row.reminders; };
  well &= expect(wait_until([&] { return reminders() >= 2; }), "who was told, and reminded");
  well &= expect(bills.manual_success(4).has_value(), "a person has dealt with it");
  well &= expect(status_of(4) == 2002, "bill 4 is healed by a person");

  const recourse::GuardReport report = bills.report().value();
  for (const auto& [status, count] : report.by_err_status) {
    std::printf("  err_status %d: %lld\n", status, static_cast<long long>(count));
  }
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  const auto file =
      std::filesystem::temp_directory_path() / ("user_bill-" + std::to_string(::getpid()) + ".db");
  auto engine = recourse::Engine::open({.store = argc > 1 ? argv[1] : "sqlite:" + file.string(),
                                        .log = [](std::string_view, std::string_view) {}})
                    .value();
  recourse::Create database(engine);
  database
      .transact(5s,
                [](recourse::CreateTransaction& own) -> recourse::Result<> {
                  const auto made = own.execute(UserBillService::kTable);
                  return made ? recourse::Result<>() : recourse::fail(made.error());
                })
      .value();
  Bank bank;
  engine.notify({.channels = {std::make_shared<Mail>()}});
  auto guards = recourse::Guards::on(engine).value();
  auto bills = guards.add(std::make_shared<UserBillService>(database, bank));
  engine.start().value();

  const bool well = tell_the_story(*bills, bank);
  engine.stop(5s);
  if (argc == 1) {
    for (const char* end : {"", "-wal", "-shm", ".lock"}) {
      std::error_code ignored;
      std::filesystem::remove(file.string() + end, ignored);
    }
  }
  return well ? 0 : 1;
}
