// One batch on its way through a consumer.
//
// Thread safety: none; the thread of the consumer.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "message/consumer_impl.h"

namespace recourse::message {

class Round {
 public:
  using Answers = std::vector<Result<Consumption>>;

  // `stuck`: of ordered groups, the keys of which one is left to the broker; this round adds its
  // own.
  Round(Consumer::Impl& consumer, std::span<const Message> batch, const Run& run,
        const std::stop_token& stop, std::set<std::string>& stuck);
  // What was taken is free again.
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  Answers go();

 private:
  struct Item {
    const Message* message;
    store::MessageKey key;
    bool is_taken = false;
    bool is_answered = false;
    Ran ran = {};
    // The one of this batch that is the same message.
    std::size_t twin = 0;
  };

  void prepare();
  // False: nothing can be done, and everything is answered.
  bool look_up();
  // It has a mark.
  void known(std::size_t place, const store::Seen& seen);
  void handle(std::size_t place);
  // How it was run here, where that could not be marked.
  std::optional<Ran> recall(const Item& item);
  // Whether it has to wait for others of its key; an error is its answer.
  Result<bool> waits(const Item& item);
  // There is no body: it is for a person, and no handler is called.
  void cannot_read(std::size_t place);
  void run_it(std::size_t place);
  void run_in_transaction(std::size_t place);
  // It was run, or need not be; its mark is to be written.
  void ended(std::size_t place, Ran ran);
  // False: the store did not take them. They are answered so, and remembered.
  bool flush();
  bool mark_each(std::span<const store::Dealt> dealt, std::span<const std::size_t> places);
  // The store does not take these, the first of which it was asked to, nor what is not begun yet.
  void put_off(std::span<const store::Dealt> asked, std::span<const std::size_t> places,
               const Error& error);
  void settle(std::size_t place, const store::Dealt& dealt, const store::Marked& marked);
  void answer(std::size_t place, Result<Consumption> answer);
  // It can never be recorded: logged once.
  void tell_refused(const Item& item, const Error& error);
  // Left to the broker, and with it those of its key that come after it.
  void refuse(std::size_t place, Error error);
  void hold_back_behind(std::size_t place);
  // Empty where nothing is in order.
  [[nodiscard]] std::string order_of(const Item& item) const;
  void answer_rest(const Error& error);
  void answer_twins();

  Consumer::Impl& consumer_;
  std::span<const Message> batch_;
  const Run& run_;
  const std::stop_token& stop_;
  std::vector<Item> items_;
  Answers answers_;
  // Whose marks are still to be written.
  std::vector<std::size_t> unmarked_;
  std::size_t unmarked_bytes_ = 0;
  std::chrono::steady_clock::time_point first_unmarked_;
  Duration last_took_{};
  // Of ordered groups: keys of which one is left to the broker, keys of which one has failed here,
  // and keys that were found free.
  std::set<std::string>& stuck_;
  std::set<std::string> blocked_;
  std::set<std::string> free_;
};

}  // namespace recourse::message
