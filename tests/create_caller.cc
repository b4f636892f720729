// A shop as a process of its own, for tests that kill it: many threads create the same orders, each
// in an order of its own, and what was answered is written down, a line at a time.
//
//   create_caller STORE LEDGER KEYS THREADS
//
// R key public_id   a create was answered
// S key ms          it had to be waited for: so long until the answer
// X key what        what must never happen
// D                 all threads have an answer for every key
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "recourse/create.h"
#include "tests/support/ledger.h"

namespace {

using namespace std::chrono_literals;
using recourse::CreateTransaction;
using recourse::ErrorCode;
using recourse::NewResource;
using recourse::Result;

using recourse::tests::Ledger;

recourse::CreateRequest request_of(int key, const char* body) {
  return {.tenant = 7,
          .business_type = "ORDER_CREATE",
          .resource_type = "ord",
          .key = fmt::format("key-{}", key),
          .request_hash = recourse::request_hash(body).value(),
          .lock_ttl = 2s,
          .wait_for_completion = true,
          .wait_max = 5s};
}

class Caller {
 public:
  Caller(recourse::Create& create, const Ledger& ledger) : create_(create), ledger_(ledger) {}

  // Until it is answered.
  void place(int key) {
    const auto begun = std::chrono::steady_clock::now();
    while (true) {
      const recourse::CreateRequest request = request_of(key, R"({"amount": 7})");
      const auto made = create_.run_bytes(
          request, [&](CreateTransaction& own, const NewResource& order) -> Result<std::string> {
            const auto placed = own.execute(
                "INSERT INTO shop_order (id, public_id, idem_key, amount) VALUES (?, ?, ?, ?)",
                {order.internal_id, order.public_id, request.key, std::int64_t{7}});
            if (!placed) return recourse::fail(placed.error());
            return order.public_id;
          });
      if (made && !made->in_progress) {
        if (made->value != made->public_id) ledger_.write(fmt::format("X {} value\n", key));
        ledger_.write(fmt::format("R {} {}\n", key, made->public_id));
        break;
      }
      // The key was this very request's: only a lost lock may be told as a conflict.
      if (!made && made.error().code == ErrorCode::kInvalid) {
        ledger_.write(fmt::format("X {} {}\n", key, made.error().message));
        return;
      }
      std::this_thread::sleep_for(10ms);
    }
    const auto took = std::chrono::steady_clock::now() - begun;
    ledger_.write(fmt::format("S {} {}\n", key,
                              std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  }

  // Of a key that was answered: another body is refused.
  void misuse(int key) {
    const auto other = create_.run_bytes(
        request_of(key, R"({"amount": 8})"),
        [](CreateTransaction&, const NewResource&) { return Result<std::string>("wrong"); });
    if (other || (other.error().code != ErrorCode::kConflict &&
                  other.error().code != ErrorCode::kUnavailable)) {
      ledger_.write(fmt::format("X {} another body was taken\n", key));
    }
  }

 private:
  recourse::Create& create_;
  const Ledger& ledger_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "create_caller STORE LEDGER KEYS THREADS\n");
    return 2;
  }
  const Ledger ledger(argv[2]);
  const int keys = std::atoi(argv[3]);
  auto engine = recourse::Engine::open({.store = argv[1]});
  if (!engine) {
    fmt::print(stderr, "create_caller: {}\n", engine.error().message);
    return 1;
  }
  recourse::Create create(*engine);
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[4]); ++i) {
    threads.emplace_back([&] {
      Caller caller(create, ledger);
      std::vector<int> order(static_cast<std::size_t>(keys));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::shuffle(order, std::mt19937(std::random_device()()));
      for (const int key : order) {
        caller.place(key);
        if (key % 10 == 0) caller.misuse(key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ledger.write("D\n");
  return 0;
}
