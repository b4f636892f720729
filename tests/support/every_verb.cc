#include "tests/support/every_verb.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ulid.h"
#include "store/contract/contract.h"
#include "task/transition.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using namespace store;
using store::contract::kWithin;
using store::contract::must;
using task::Incarnation;
using task::Kind;
using task::LeaseId;
using task::Move;
using task::Owner;
using task::State;
using task::Task;
using task::TaskId;
using task::WorkerName;

const Kind kMail("mail");
constexpr Duration kInstant = 1us;

class Life {
 public:
  explicit Life(OpenedStore& opened)
      : store_(opened.store()),
        reader_(opened.reader()),
        cases_(opened.cases()),
        creates_(opened.creates()),
        inbox_(opened.inbox()) {}

  void run() {
    const Incarnation node = join();
    submit(node);
    claim_in_every_way(node);
    write_outcomes(node);
    say(node);
    lose_a_worker(node);
    tell_people();
    obey_people(node);
    bury(node);
    ask();
    create();
    deal_with_messages();
    purge();
  }

 private:
  Ulid name() { return names_.next(TimePoint(1'700'000'000s)); }

  Incarnation join() {
    const Incarnation node(name());
    (void)must(store_.join({.incarnation = node, .name = "first", .kinds = {kMail}}, kWithin));
    return node;
  }

  Submission fresh(const std::string& unique_key = "", const std::string& tenant = "acme") {
    Submission item;
    item.id = TaskId(name());
    item.spec.kind = kMail;
    item.spec.tenant = task::Tenant(tenant);
    item.spec.unique_key = task::UniqueKey(unique_key);
    item.spec.search_keys = {{"order", "7"}};
    return item;
  }

  void submit(Incarnation node) {
    std::vector<Submission> batch;
    for (int i = 0; i < 40; ++i) batch.push_back(fresh("", i % 2 == 0 ? "acme" : "other"));
    batch.push_back(fresh("key"));
    batch.push_back(fresh());
    batch.back().claim = BirthClaim{.owner = node, .lease = LeaseId(name())};
    (void)must(store_.insert(batch, Novelty::kFresh, kWithin));
    // Taken for new, found not to be, and looked up.
    (void)must(store_.insert(batch, Novelty::kFresh, kWithin));
    (void)must(store_.insert(batch, Novelty::kRepeat, kWithin));
    const std::vector taken{fresh("key")};
    (void)must(store_.insert(taken, Novelty::kRepeat, kWithin));
  }

  std::vector<Task> claim(Owner owner, int limit, int tenant_max = 0,
                          std::optional<Duration> lease_for = std::nullopt,
                          ShardRange shards = {}) {
    ClaimRequest request;
    request.owner = std::move(owner);
    request.lease = LeaseId(name());
    request.lease_for = lease_for;
    request.quotas = {{.kind = kMail, .limit = limit, .tenant_max = tenant_max}};
    request.limit = limit;
    request.shards = shards;
    Claimed claimed = must(store_.claim(request, kWithin));
    now_ = claimed.now;
    return std::move(claimed.tasks);
  }

  void claim_in_every_way(Incarnation node) {
    // More is due than is let through, so a tenth goes to the oldest.
    claimed_ = claim(Owner(node), 10);
    (void)claim(Owner(node), 4, 1);
    (void)claim(Owner(node), 1, 0, std::nullopt, {.first = 0, .last = kShards - 2});
    (void)claim(Owner(node), 2, 1, std::nullopt, {.first = 0, .last = kShards - 2});
  }

  Outcome outcome(const Task& task, Move move, int attempt = 0) {
    Outcome made{.transition = task::plan(task, move, now_), .attempt = std::nullopt};
    made.transition.error = task::Reason{"TIMEOUT", "no answer"};
    if (attempt == 0) return made;
    made.attempt = Attempt{.task = task.id,
                           .number = attempt,
                           .started_at = now_,
                           .ended_at = now_,
                           .owner = "first",
                           .fence = task.ticket.fence,
                           .decision = move,
                           .error = made.transition.error,
                           .next_due = now_};
    return made;
  }

  void write_outcomes(Incarnation) {
    ASSERT_GE(claimed_.size(), 9U);
    const std::vector batch{
        outcome(claimed_[0], Move::kSucceed), outcome(claimed_[1], Move::kRetry, 1),
        outcome(claimed_[2], Move::kGiveUp, kAttemptsKept + 1), outcome(claimed_[3], Move::kFail),
        outcome(claimed_[4], Move::kRetryHere)};
    (void)must(store_.apply(batch, kWithin));
    // What is written already is judged by the rows, live and archived.
    (void)must(store_.apply(batch, kWithin));
    const std::vector held{Held{.task = claimed_[5].id, .ticket = claimed_[5].ticket}};
    (void)must(store_.record_starts(held, kWithin));
  }

  Note note(const Task& task) {
    return {.task = task.id,
            .fence = task.ticket.fence,
            .number = ++notes_,
            .attempt = 1,
            .at = now_,
            .progress = 1,
            .text = "half way"};
  }

  void say(Incarnation) {
    // One too many; one whose task is archived; and one with its outcome.
    std::vector<Jotting> batch;
    for (int i = 0; i < kNotesKept; ++i) {
      batch.push_back({claimed_[5].ticket, note(claimed_[5])});
    }
    batch.push_back({claimed_[0].ticket, note(claimed_[0])});
    (void)must(store_.note(batch, kWithin));
    (void)must(store_.note(std::vector{Jotting{claimed_[5].ticket, note(claimed_[5])}}, kWithin));
    Outcome end = outcome(claimed_[7], Move::kSucceed);
    end.notes = {note(claimed_[7])};
    (void)must(store_.apply(std::vector{end}, kWithin));
  }

  void lose_a_worker(Incarnation) {
    const std::vector<Task> leased = claim(Owner(WorkerName("w1")), 1, 0, 1h);
    ASSERT_EQ(leased.size(), 1U);
    const std::vector held{Held{.task = leased[0].id, .ticket = leased[0].ticket}};
    (void)must(store_.renew(held, kInstant, kWithin));
    order(std::vector{leased[0].id}, Move::kCancel);
    // Its lease is over, and a person wanted it cancelled: the next claim ends it.
    (void)claim(Owner(WorkerName("w2")), 50, 0, 1h);
  }

  void order(const Selection& which, std::optional<Move> move,
             std::optional<std::string> payload = std::nullopt) {
    task::Order order;
    order.move = move;
    order.payload = std::move(payload);
    (void)must(store_.control(which, order, "alice", kWithin));
  }

  void tell_people() {
    const DueCases due = must(cases_.take_due(50, 1h, kWithin));
    std::vector<PutOff> told;
    std::vector<TaskId> ids;
    for (const DueCase& one : due.items) {
      told.push_back({.held = one.held, .wait = 1h});
      ids.push_back(one.task.id);
    }
    (void)must(cases_.put_off(told, kWithin));
    (void)must(cases_.assign(ids, {.assignee = "alice", .due = {}, .note = {}}, "bob", kWithin));
    (void)must(cases_.note(ids.front(), "seen", "bob", kWithin));
    (void)must(cases_.find(ids.front(), kWithin));
    (void)must(cases_.list("alice", std::nullopt, 10, kWithin));
    (void)must(cases_.list(std::nullopt, std::nullopt, 10, kWithin));
  }

  void obey_people(Incarnation node) {
    const std::vector some{fresh(), fresh("another"), fresh(), fresh()};
    (void)must(store_.insert(some, Novelty::kFresh, kWithin));
    order(std::vector{some[0].id}, Move::kPause);
    order(std::vector{some[0].id}, std::nullopt, "{}");
    order(std::vector{some[1].id}, Move::kCancel);
    order(std::vector{claimed_[6].id, TaskId(name())}, Move::kCancel);
    (void)must(store_.heartbeat(node, 0, kWithin));
    (void)must(store_.pause_kind(kMail, true, "alice", kWithin));
    (void)must(store_.pause_kind(kMail, false, "alice", kWithin));
    for (const Filter& filter : filters()) {
      order(ByFilter{.filter = filter, .as_of = now_ + 1h, .after = std::nullopt, .limit = 2},
            Move::kRetryNow);
    }
  }

  void bury(Incarnation node) {
    (void)must(store_.declare_dead(node, 0, "second", kWithin));
    (void)must(store_.declare_dead(node, 1, "second", kWithin));
    (void)must(store_.adopt("second", kWithin));
  }

  [[nodiscard]] std::vector<Filter> filters() const {
    std::vector<Filter> all(8);
    all[1].states = {State::kDead};
    all[2].states = {State::kDead, State::kFailed, State::kPaused};
    all[3].states = {State::kPending};
    all[4].kinds = {kMail};
    all[5].search_key = {"order", "7"};
    all[6].search_key = {"order", "7"};
    all[6].states = {State::kSucceeded};
    all[7].tenant = task::Tenant("acme");
    all[7].unique_key = task::UniqueKey("key");
    all[7].created_from = TimePoint();
    all[7].created_before = now_ + 1h;
    return all;
  }

  void ask() {
    const TaskId some = claimed_[0].id;
    (void)must(reader_.find(some, kWithin));
    for (const Filter& filter : filters()) {
      const TaskPage page = must(reader_.list(filter, std::nullopt, 2, kWithin));
      if (page.next) (void)must(reader_.list(filter, page.next, 50, kWithin));
    }
    (void)must(reader_.attempts(some, kWithin));
    (void)must(reader_.notes(some, kWithin));
    (void)must(reader_.audit(some, std::nullopt, 10, kWithin));
    (void)must(reader_.audit(std::nullopt, std::nullopt, 10, kWithin));
    (void)must(reader_.counts(kWithin));
    (void)must(reader_.backlog(kMail, kWithin));
    (void)must(reader_.nodes(kWithin));
    (void)must(reader_.pauses(kWithin));
    (void)must(reader_.held_by(Owner(WorkerName("w2")), std::nullopt, 10, kWithin));
  }

  void create() {
    CreateAsk ask{.key = {.tenant = "7", .business = "ORDER_CREATE", .key = "k"},
                  .resource = "ord",
                  .hash = std::string(64, 'a'),
                  .id = names_.next(now_),
                  .ttl = 24h,
                  .lock_ttl = 30s};
    const Acquired first = must(creates_.acquire(ask, kWithin));
    ask.id = names_.next(now_);
    (void)must(creates_.acquire(ask, kWithin));
    (void)must(creates_.give_up(hold_of(first.creation), "no", kWithin));
    const Acquired second = must(creates_.acquire(ask, kWithin));
    (void)must(creates_.succeed(hold_of(second.creation), "{}", kWithin));
    (void)must(creates_.find(ask.key, kWithin));
    ask.key.key = "brief";
    ask.ttl = 1s;
    ask.lock_ttl = 100ms;
    (void)must(creates_.acquire(ask, kWithin));
    while (must(creates_.sweep(10, kWithin)) == 0) std::this_thread::sleep_for(50ms);
  }

  void deal_with_messages() {
    const std::vector keys{MessageKey("a"), MessageKey("b"), MessageKey("c")};
    std::vector<Dealt> batch;
    for (const MessageKey& key : keys) batch.push_back({.key = key, .keep_for = 1us});
    batch[1].task = fresh();
    batch[2].task = fresh();
    batch[2].task->claim = BirthClaim{.owner = Incarnation(name()), .lease = LeaseId(name())};
    Task born;
    born.id = batch[2].task->id;
    born.spec = batch[2].task->spec;
    born = task::apply(std::move(born), task::Claim{.owner = batch[2].task->claim->owner,
                                                    .lease = batch[2].task->claim->lease,
                                                    .lease_end = std::nullopt});
    batch[2].tried = outcome(born, Move::kRetry, 1);
    (void)must(inbox_.mark(batch, kWithin));
    (void)must(inbox_.mark(batch, kWithin));
    (void)must(inbox_.look_up(keys, kWithin));
    (void)must(inbox_.forget(std::vector{keys[0]}, kWithin));
    while (must(inbox_.sweep(10, kWithin)) == 0) std::this_thread::sleep_for(1ms);
  }

  void purge() {
    PurgeRequest request;
    request.by = "alice";
    (void)must(store_.purge(request, kWithin));
    request.kind = kMail;
    (void)must(store_.purge(request, kWithin));
    request.ended_before = now_ + 1h;
    request.limit = 1;
    for (const State state : {State::kSucceeded, State::kDead}) {
      request.states = {state};
      (void)must(store_.purge(request, kWithin));
    }
  }

  Store& store_;
  Reader& reader_;
  Cases& cases_;
  Creates& creates_;
  Inbox& inbox_;
  UlidSequence names_{7};
  TimePoint now_;
  std::vector<Task> claimed_;
  int notes_ = 0;
};

}  // namespace

void run_every_verb(OpenedStore& opened) { Life(opened).run(); }

}  // namespace recourse::tests
