#include "policy/exception_cases.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace recourse::policy {
namespace {

template <class E>
Failure thrown(E error) {
  return Thrown{std::make_exception_ptr(std::move(error))};
}

struct Base : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Middle : Base {
  using Base::Base;
};
struct Leaf : Middle {
  using Middle::Middle;
};

template <class E>
void name_it(ExceptionCases& cases, const std::string& name) {
  cases.on<E>([name](const E&) { return retry(Category::kIo, name, ""); });
}

std::string code_for(const ExceptionCases& cases, const Failure& failure) {
  const std::optional<Decision> decision = cases(failure);
  return decision ? decision->code : "none";
}

RC_GTEST_PROP(ExceptionCases, TheClosestTypeWinsInWhateverOrderTheyAreAdded, ()) {
  using Add = void (*)(ExceptionCases&, const std::string&);
  const std::vector<std::pair<Add, std::string>> all{{name_it<std::exception>, "exception"},
                                                     {name_it<std::runtime_error>, "runtime_error"},
                                                     {name_it<Base>, "base"},
                                                     {name_it<Leaf>, "leaf"},
                                                     {name_it<std::logic_error>, "logic_error"}};
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  const auto seed = *rc::gen::arbitrary<unsigned>();
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  ExceptionCases cases;

  for (const std::size_t i : order) all[i].first(cases, all[i].second);

  RC_ASSERT(code_for(cases, thrown(Leaf("x"))) == "leaf");
  RC_ASSERT(code_for(cases, thrown(Middle("x"))) == "base");
  RC_ASSERT(code_for(cases, thrown(std::range_error("x"))) == "runtime_error");
  RC_ASSERT(code_for(cases, thrown(std::out_of_range("x"))) == "logic_error");
  RC_ASSERT(code_for(cases, thrown(std::bad_alloc())) == "exception");
  RC_ASSERT(code_for(cases, thrown(7)) == "none");
}

TEST(ExceptionCases, ACaseForTheSameTypeReplacesTheEarlierOne) {
  ExceptionCases cases;
  name_it<Base>(cases, "first");
  name_it<Leaf>(cases, "leaf");
  name_it<Base>(cases, "second");

  EXPECT_EQ(code_for(cases, thrown(Base("x"))), "second");
  EXPECT_EQ(code_for(cases, thrown(Leaf("x"))), "leaf");
}

struct Left : Base {
  using Base::Base;
};
struct Right : Base {
  using Base::Base;
};
struct Both : Left, Right {
  Both() : Left("x"), Right("x") {}
};

TEST(ExceptionCases, ABaseThatATypeHasTwiceDoesNotConfuseTheOrder) {
  ExceptionCases cases;
  name_it<Base>(cases, "base");
  name_it<Both>(cases, "both");
  name_it<Left>(cases, "left");

  EXPECT_EQ(code_for(cases, thrown(Both())), "both");
  EXPECT_EQ(code_for(cases, thrown(Left("x"))), "left");
  EXPECT_EQ(code_for(cases, thrown(Right("x"))), "base");
}

TEST(ExceptionCases, ValuesThatAreNoExceptionsCanHaveACase) {
  ExceptionCases cases;
  cases.on<int>([](const int& value) { return retry(Category::kIo, std::to_string(value), ""); });

  EXPECT_EQ(code_for(cases, thrown(42)), "42");
  EXPECT_EQ(code_for(cases, thrown(std::string("text"))), "none");
}

TEST(ExceptionCases, OnlyWhatWasThrownIsTheirs) {
  EXPECT_EQ(code_for(standard_exception_cases(), Declined{"no"}), "none");
  EXPECT_EQ(code_for(standard_exception_cases(), Thrown{nullptr}), "none");
}

TEST(StandardExceptionCases, FollowTheSettledRules) {  // FAIL-2
  const ExceptionCases cases = standard_exception_cases();
  const auto decide = [&](const Failure& failure) { return cases(failure).value(); };

  EXPECT_EQ(decide(thrown(std::runtime_error("remote 500"))).outcome, Outcome::kRetry);
  EXPECT_EQ(decide(thrown(std::runtime_error("remote 500"))).message, "remote 500");
  EXPECT_EQ(decide(thrown(std::overflow_error("x"))).category, Category::kBizRetryable);
  EXPECT_EQ(decide(thrown(std::system_error(std::make_error_code(std::errc::timed_out)))).category,
            Category::kTimeout);
  EXPECT_EQ(
      decide(thrown(std::system_error(std::make_error_code(std::errc::broken_pipe)))).category,
      Category::kIo);
  EXPECT_EQ(decide(thrown(std::invalid_argument("bug"))).outcome, Outcome::kDeadLetter);
  EXPECT_FALSE(cases(thrown(std::bad_alloc())));
}

}  // namespace
}  // namespace recourse::policy
