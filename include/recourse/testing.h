// For your own tests: an engine in memory, without threads, whose time stands still until you move
// it. Handlers run on the test's thread.
//
//   recourse::testing::TestEngine engine;
//   engine.handle<Grant>("grant-points", handler);
//   auto id = engine.submit("grant-points", Grant{"m-1", 10}).value();
//   engine.advance(1min);
//   EXPECT_EQ(engine.find(id).value().state, "succeeded");
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "recourse/engine.h"

namespace recourse::testing {

// Thread safety: none.
class TestEngine {
 public:
  TestEngine();
  ~TestEngine();
  TestEngine(TestEngine&&) noexcept;
  TestEngine& operator=(TestEngine&&) noexcept;

  // --- before the first submit; what is wrong with them is told by it ---
  TestEngine& handle_bytes(std::string_view kind, Handler handler, const KindOptions& options = {},
                           Probe probe = nullptr);
  template <class T, class F>
  TestEngine& handle(std::string_view kind, F handler, const KindOptions& options = {}) {
    return handle_bytes(kind, typed_handler<T>(std::move(handler)), options);
  }

  // advance() submits and runs what comes on the way.
  TestEngine& schedule(Schedule schedule);
  template <class T>
  TestEngine& schedule(Schedule schedule_of, const T& payload) {
    Result<std::string> bytes = encode_payload(payload);
    if (!bytes) return refuse(bytes.error());
    schedule_of.payload = *std::move(bytes);
    return schedule(std::move(schedule_of));
  }
  // Called while the engine runs, on the test's thread.
  TestEngine& on_end(std::function<void(const Ended&)> call);

  // Nothing runs before run_due() or advance().
  Result<TaskIdText> submit_bytes(std::string_view kind, std::string payload,
                                  const SubmitOptions& options = {});
  template <class T>
    requires(!std::is_convertible_v<T, std::string_view>)
  Result<TaskIdText> submit(std::string_view kind, const T& payload,
                            const SubmitOptions& options = {}) {
    Result<std::string> bytes = encode_payload(payload);
    if (!bytes) return fail(bytes.error());
    return submit_bytes(kind, *std::move(bytes), options);
  }

  // Both answer how many handlers were called.
  int run_due();
  // Whatever comes due on the way is run at its time.
  int advance(Duration by);

  Result<TaskView> find(std::string_view id);
  Result<std::vector<NoteView>> notes(std::string_view id);

 private:
  struct Impl;
  TestEngine& refuse(const Error& error);
  std::unique_ptr<Impl> impl_;
};

}  // namespace recourse::testing
