// The four stores do the same: random operations in lockstep, with the store in memory as the
// model. Every answer is compared, and every 50 operations everything that is stored.
//
//   RECOURSE_TEST_SEEDS=N   tries N seeds instead of the few of the short form
//   RECOURSE_TEST_SEED=S    replays one
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/memory/memory_store.h"
#include "tests/differential/operations.h"
#include "tests/differential/side.h"
#include "tests/support/fresh_database.h"

namespace recourse::tests::differential {
namespace {

constexpr int kOperations = 200;
constexpr int kBetweenLooks = 50;
constexpr std::uint64_t kSeedsShort = 6;

const SystemClock kClock;

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

// Some of what is finished is past its retention at once.
store::Retention retention() {
  store::Retention retention;
  retention.exceptions[{task::Kind("mail"), task::State::kSucceeded}] = Duration::zero();
  return retention;
}

class StoreDifferential : public testing::Test {
 protected:
  void SetUp() override {
    for (const Database kind : {Database::kSqlite, Database::kPostgres, Database::kMariadb}) {
      databases_.push_back(fresh_database(kind));
    }
  }

  void open_sides() {
    sides_.clear();
    sides_.emplace_back("Memory",
                        store::memory::open(store::memory::make_data(), kClock, retention()));
    for (const auto& database : databases_) {
      database->open(retention()).reset();
      forget_everything(*database);
      sides_.emplace_back(to_string(database->kind()),
                          database->open_recorded(recorder_, retention()));
    }
  }

  // True where all four did the same to the end.
  bool run(std::uint64_t seed) {
    open_sides();
    Operations operations(seed);
    for (int i = 1; i <= kOperations; ++i) {
      const Operation operation = operations.next(sides_);
      if (!all_answer_the_same(operation, fmt::format("operation {}, {}", i, operation.text))) {
        return false;
      }
      if (i % kBetweenLooks == 0 && !all_hold_the_same(fmt::format("after operation {}", i))) {
        return false;
      }
    }
    partial_claims_ += operations.partial_claims();
    return true;
  }

  [[nodiscard]] int partial_claims() const { return partial_claims_; }

 private:
  static void forget_everything(FreshDatabase& database) {
    const std::unique_ptr<sql::Connection> connection = database.connect();
    for (const char* table : {"task", "archive", "unique", "search", "attempt", "audit", "node",
                              "counter", "pause", "note", "case", "inbox"}) {
      ASSERT_TRUE(connection->run(fmt::format("DELETE FROM recourse_{}", table)));
    }
    ASSERT_TRUE(connection->run("UPDATE recourse_meta SET value = 0 WHERE name = 'pauses'"));
  }

  bool all_answer_the_same(const Operation& operation, const std::string& when) {
    const std::string model = operation.on(sides_.front());
    for (std::size_t i = 1; i < sides_.size(); ++i) {
      const std::string answer = operation.on(sides_[i]);
      if (answer == model) continue;
      ADD_FAILURE() << when << ": " << sides_[i].name() << " answered\n"
                    << answer << "\nand the model\n"
                    << model;
      return false;
    }
    return true;
  }

  bool all_hold_the_same(const std::string& when) {
    const std::vector<std::string> model = sides_.front().everything();
    for (std::size_t i = 1; i < sides_.size(); ++i) {
      const std::vector<std::string> held = sides_[i].everything();
      if (held == model) continue;
      const auto [mine, models] = std::ranges::mismatch(held, model);
      ADD_FAILURE() << when << ": " << sides_[i].name() << " holds\n"
                    << (mine == held.end() ? "nothing more" : *mine) << "\nand the model\n"
                    << (models == model.end() ? "nothing more" : *models);
      return false;
    }
    return true;
  }

  std::vector<std::unique_ptr<FreshDatabase>> databases_;
  Recorder recorder_;
  std::vector<Side> sides_;
  int partial_claims_ = 0;
};

TEST_F(StoreDifferential, GivesTheSameAnswersAndRowsOnAllFour) {
  const auto one = number_from("RECOURSE_TEST_SEED");
  const std::uint64_t first = one.value_or(1);
  const std::uint64_t count = one ? 1 : number_from("RECOURSE_TEST_SEEDS").value_or(kSeedsShort);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    if (run(seed)) continue;
    FAIL() << "seed " << seed << " differs; replay it with RECOURSE_TEST_SEED=" << seed
           << " ./dev test store_differential";
  }
  // Else nothing was said about the order of claims.
  EXPECT_TRUE(one || partial_claims() > static_cast<int>(count));
}

}  // namespace
}  // namespace recourse::tests::differential
