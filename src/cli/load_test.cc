#include "cli/load.h"

#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

using namespace std::chrono_literals;

TEST(Load, QuantilesAreOnesThatWereMeasured) {
  LoadResult load{.took = {1ms, 2ms, 3ms, 4ms}, .elapsed = 2s};
  EXPECT_EQ(load.quantile(0), 1ms);
  EXPECT_EQ(load.quantile(0.5), 2ms);
  EXPECT_EQ(load.quantile(0.75), 3ms);
  EXPECT_EQ(load.quantile(0.99), 4ms);
  EXPECT_EQ(load.quantile(1), 4ms);
  EXPECT_EQ(LoadResult().quantile(0.5), 0ms);
}

TEST(Load, ARateCountsWhatEachCallDid) {
  const LoadResult load{.took = {1ms, 2ms, 3ms, 4ms}, .elapsed = 2s};
  EXPECT_DOUBLE_EQ(load.rate(), 2);
  EXPECT_DOUBLE_EQ(load.rate(100), 200);
  EXPECT_DOUBLE_EQ(LoadResult().rate(), 0);
}

// A client of which every call ends at once, on the caller's thread, as it is told to.
class AtOnce : public http::Client {
 public:
  explicit AtOnce(std::vector<int> statuses) : statuses_(std::move(statuses)) {}

  http::CallId send(http::Call, std::function<void(http::CallResult)> ended) override {
    const int status = statuses_[sent_ % statuses_.size()];
    ++sent_;
    ended(http::Answer{.status = status});
    return sent_;
  }
  void cancel(http::CallId) override {}
  [[nodiscard]] std::size_t sent() const { return sent_; }

 private:
  std::vector<int> statuses_;
  std::size_t sent_ = 0;
};

TEST(Load, EveryCallIsMadeOnce) {
  AtOnce client({200, 201});
  std::vector<std::size_t> made;
  std::size_t answered = 0;
  const LoadResult load = run_load(client, {.calls = 10,
                                            .at_once = 3,
                                            .make =
                                                [&](std::size_t n) {
                                                  made.push_back(n);
                                                  return http::Call{.url = "http://h/"};
                                                },
                                            .answered = [&](const http::Answer&) { ++answered; }});
  EXPECT_EQ(made, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(answered, 10U);
  EXPECT_EQ(load.took.size(), 10U);
  EXPECT_FALSE(load.refusal);
}

TEST(Load, TheFirstRefusalEndsIt) {
  AtOnce client({200, 503});
  const LoadResult load = run_load(client, {.calls = 10, .at_once = 1, .make = [](std::size_t) {
                                              return http::Call{.url = "http://h/"};
                                            }});
  EXPECT_EQ(client.sent(), 2U);
  EXPECT_EQ(load.took.size(), 1U);
  ASSERT_TRUE(load.refusal);
  EXPECT_EQ(std::get<http::Answer>(*load.refusal).status, 503);
}

TEST(Load, NoCallsEndAtOnce) {
  AtOnce client({200});
  EXPECT_TRUE(run_load(client, {.calls = 0, .at_once = 3, .make = nullptr}).took.empty());
}

}  // namespace
}  // namespace recourse::cli
