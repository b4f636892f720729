// The way between callers and the store: takes time, loses, delays, and is cut off. What a caller
// is told is what the real stores tell: kUnavailable where a call surely was not committed by the
// time of the answer, kInDoubt where its COMMIT had been sent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "base/result.h"
#include "base/time.h"
#include "sim/sim_store.h"

namespace recourse::sim {

class World;

// A process of a node, or somebody outside (node -1), who is always there.
struct Sender {
  int node = -1;
  std::uint64_t process = 0;
};

class Network {
 public:
  explicit Network(World& world) : world_(world) {}

  // `run` makes the call and keeps its answer; `done` is told once, of an error or of none.
  struct Call {
    Sender from;
    bool writes = true;
    Duration within{};
    std::function<void(bool lose_reply, std::function<bool()> wait)> run;
    std::function<void(std::optional<Error>)> done;
  };
  void send(Call call);

  // A store call with its answer; of which of the store's faces it is.
  template <class R, class Face = store::Store>
  void ask(const Sender& from, const StoreCall& what, Duration within,
           std::type_identity_t<std::function<Result<R>(Face&)>> verb,
           std::function<void(Result<R>)> done);
  // A question: no transaction, nothing in doubt.
  template <class R>
  void read(const Sender& from, Duration within, std::function<R()> question,
            std::function<void(Result<R>)> done);

  void set_outage(bool outage) { outage_ = outage; }
  [[nodiscard]] bool outage() const { return outage_; }
  void set_slow(bool slow) { slow_ = slow; }

 private:
  struct Sent;
  using SentPtr = std::shared_ptr<Sent>;

  void arrive(const SentPtr& sent);
  void carry_out(const SentPtr& sent);
  void answer(const SentPtr& sent, std::optional<Error> error);
  [[nodiscard]] bool is_cut_off(const Sender& from) const;
  [[nodiscard]] bool is_alive(const Sender& from) const;
  Duration delay();
  SimStore& store();

  World& world_;
  bool outage_ = false;
  bool slow_ = false;
  int nested_ = 0;
};

template <class R, class Face>
void Network::ask(const Sender& from, const StoreCall& what, Duration within,
                  std::type_identity_t<std::function<Result<R>(Face&)>> verb,
                  std::function<void(Result<R>)> done) {
  auto kept = std::make_shared<std::optional<Result<R>>>();
  send({.from = from,
        .writes = true,
        .within = within,
        .run =
            [this, kept, what, verb = std::move(verb)](bool lose, std::function<bool()> wait) {
              StoreCall call = what;
              call.lose_reply = lose;
              call.wait = std::move(wait);
              *kept = store().template carry_out<Face>(std::move(call), verb);
            },
        .done =
            [kept, done = std::move(done)](std::optional<Error> error) {
              done(error ? Result<R>(fail(std::move(*error))) : std::move(**kept));
            }});
}

template <class R>
void Network::read(const Sender& from, Duration within, std::function<R()> question,
                   std::function<void(Result<R>)> done) {
  auto kept = std::make_shared<std::optional<R>>();
  send({.from = from,
        .writes = false,
        .within = within,
        .run = [kept, question = std::move(question)](
                   bool, const std::function<bool()>&) { *kept = question(); },
        .done =
            [kept, done = std::move(done)](std::optional<Error> error) {
              done(error ? Result<R>(fail(std::move(*error))) : Result<R>(std::move(**kept)));
            }});
}

}  // namespace recourse::sim
