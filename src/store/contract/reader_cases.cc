// Reader: what people look for, in pages that neither skip nor repeat.
#include <algorithm>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<TaskId> newest_first(std::vector<TaskId> ids) {
  std::ranges::sort(ids, std::greater());
  return ids;
}

TEST_P(StoreContract, WhatNeverWasIsNotFound) {
  EXPECT_EQ(code_of(reader().find(new_id(), kWithin)), ErrorCode::kNotFound);
}

TEST_P(StoreContract, AListHoldsLiveAndFinishedTasksNewestFirst) {
  std::vector<TaskId> ids;
  for (const State state : task::kAllStates) ids.push_back(in_state(state).id);

  EXPECT_EQ(ids_of(listed()), newest_first(ids));
}

TEST_P(StoreContract, AListedTaskIsTheTaskThatIsFound) {
  TaskSpec spec = keyed("k");
  spec.payload = "bytes";
  spec.search_keys = {{"order", "o-1"}};
  for (const State state : task::kAllStates) {
    spec.unique_key = UniqueKey(std::string(to_string(state)));
    in_state(state, spec);
  }

  for (const Task& task : listed()) EXPECT_EQ(task, row(task.id));
}

TEST_P(StoreContract, PagesNeitherSkipNorRepeat) {
  const std::vector<TaskId> ids = submit_many(53);
  for (const Task& task : claim(20)) settle(task, Move::kSucceed);

  for (const std::size_t page : {1U, 7U, 53U, 54U}) {
    EXPECT_EQ(ids_of(listed({}, page)), newest_first(ids)) << "in pages of " << page;
  }
}

TEST_P(StoreContract, PagesStandStillWhileTasksAreInsertedAndFinished) {
  const std::vector<TaskId> ids = submit_many(30);
  std::vector<TaskId> seen;
  std::optional<TaskId> after;
  do {
    const TaskPage page = must(reader().list({}, after, 7, kWithin));
    for (const Task& task : page.tasks) seen.push_back(task.id);
    after = page.next;
    submit_many(3);
    for (const Task& task : claim(2)) settle(task, Move::kSucceed);
  } while (after);

  EXPECT_EQ(seen, newest_first(ids));
}

TEST_P(StoreContract, AListByStateHoldsThoseStatesOnly) {
  for (const State state : task::kAllStates) in_state(state);

  for (const State state : task::kAllStates) {
    Filter filter;
    filter.states = {state};
    const std::vector<Task> tasks = listed(filter);
    ASSERT_THAT(tasks, SizeIs(1)) << to_string(state);
    EXPECT_EQ(tasks.at(0).state, state);
  }
  Filter two;
  two.states = {State::kDead, State::kSucceeded};
  EXPECT_THAT(listed(two), SizeIs(2));
}

TEST_P(StoreContract, AListByKindHoldsThatKindOnly) {
  const TaskId mail = submit(spec_of("mail"));
  const TaskId sms = in_state(State::kSucceeded, spec_of("sms")).id;
  submit(spec_of("push"));
  Filter filter;

  filter.kinds = {Kind("sms")};
  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(sms));
  filter.kinds = {Kind("mail"), Kind("sms")};
  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(sms, mail));
  filter.kinds = {Kind("MAIL")};
  EXPECT_THAT(listed(filter), IsEmpty());
}

TEST_P(StoreContract, AListByTenantHoldsThatTenantOnly) {
  const TaskId live = submit(of_tenant("acme"));
  const TaskId finished = in_state(State::kSucceeded, of_tenant("acme")).id;
  const TaskId nobodys = submit(of_tenant(""));
  submit(of_tenant("Acme"));
  Filter filter;

  filter.tenant = Tenant("acme");
  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(finished, live));
  filter.tenant = Tenant("");
  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(nobodys));
}

TEST_P(StoreContract, AListBySearchKeyFindsLiveAndFinishedTasks) {
  TaskSpec spec = spec_of();
  spec.search_keys = {{"member", "m-1"}, {"order", "o-1"}};
  const TaskId live = submit(spec);
  const TaskId finished = in_state(State::kSucceeded, spec).id;
  spec.search_keys = {{"member", "o-1"}, {"order", "m-1"}};
  submit(spec);
  spec.search_keys = {{"member", "M-1"}, {"Member", "m-1"}, {"order", "m-1 "}};
  submit(spec);
  Filter filter;
  filter.search_key = {"member", "m-1"};

  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(finished, live));
  EXPECT_THAT(ids_of(listed(filter, 1)), ElementsAre(finished, live));
}

TEST_P(StoreContract, AListByUniqueKeyFindsTheHolderAndThoseBefore) {
  const TaskId before = in_state(State::kSucceeded, keyed("k")).id;
  const TaskId holder = submit(keyed("k"));
  submit(keyed("K"));
  Filter filter;
  filter.unique_key = UniqueKey("k");

  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(holder, before));
}

TEST_P(StoreContract, AListByTimeOfCreationIsHalfOpen) {
  std::vector<Task> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(in_state(i == 1 ? State::kSucceeded : State::kPending));
    pass(tasks.back().created_at);
  }
  Filter filter;

  filter.created_from = tasks.at(1).created_at;
  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(tasks.at(2).id, tasks.at(1).id));
  filter.created_before = tasks.at(2).created_at;
  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(tasks.at(1).id));
  filter.created_from.reset();
  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(tasks.at(1).id, tasks.at(0).id));
}

TEST_P(StoreContract, FiltersAreJoinedByAnd) {
  TaskSpec spec = of_tenant("acme");
  spec.search_keys = {{"order", "o-1"}};
  const TaskId match = in_state(State::kDead, spec).id;
  in_state(State::kFailed, spec);
  in_state(State::kDead, of_tenant("acme"));
  spec.tenant = Tenant("other");
  in_state(State::kDead, spec);
  Filter filter;
  filter.states = {State::kDead};
  filter.kinds = {Kind("mail")};
  filter.tenant = Tenant("acme");
  filter.search_key = {"order", "o-1"};

  EXPECT_THAT(ids_of(listed(filter)), ElementsAre(match));
}

TEST_P(StoreContract, ARareMatchIsFoundAmongMany) {
  const TaskId rare = submit(of_tenant("rare"));
  submit_many(6'000, of_tenant("common"));
  Filter filter;
  filter.tenant = Tenant("rare");

  EXPECT_THAT(ids_of(listed(filter, 50)), ElementsAre(rare))
      << "a page may be short or empty, but its cursor goes on";
}

TEST_P(StoreContract, TheBacklogCountsWhatIsDueOfAKind) {
  EXPECT_EQ(must(reader().backlog(Kind("mail"), kWithin)).due, 0U);
  EXPECT_EQ(must(reader().backlog(Kind("mail"), kWithin)).oldest_due, std::nullopt);
  const Task oldest = row(submit());
  submit(prioritised(9));
  submit(spec_of(), kHour);
  submit(spec_of("sms"));
  in_state(State::kRunning);
  in_state(State::kPaused);
  in_state(State::kDead);

  const Backlog backlog = must(reader().backlog(Kind("mail"), kWithin));

  EXPECT_EQ(backlog.due, 2U);
  EXPECT_FALSE(backlog.more);
  EXPECT_EQ(backlog.oldest_due, oldest.due_at);
}

TEST_P(StoreContract, ALargeBacklogIsCountedUpToItsBound) {
  submit_many(kBacklogCountMax);
  EXPECT_EQ(must(reader().backlog(Kind("mail"), kWithin)).due, kBacklogCountMax);
  EXPECT_FALSE(must(reader().backlog(Kind("mail"), kWithin)).more);

  submit(prioritised(1));

  const Backlog backlog = must(reader().backlog(Kind("mail"), kWithin));
  EXPECT_EQ(backlog.due, kBacklogCountMax);
  EXPECT_TRUE(backlog.more);
}

TEST_P(StoreContract, ANodeSeesWhatTheStoreSaysItHas) {
  const Incarnation other = join();
  submit_many(5);
  std::vector<Task> mine = claim(5);
  std::ranges::sort(mine, {}, &Task::id);
  running(spec_of(), other);
  settle(mine.at(2), Move::kRetryHere);
  settle(mine.at(4), Move::kSucceed);

  std::vector<Held> first = must(reader().held_by(Owner(node()), std::nullopt, 3, kWithin));
  const std::vector<Held> rest =
      must(reader().held_by(Owner(node()), first.back().task, 3, kWithin));

  first.insert(first.end(), rest.begin(), rest.end());
  ASSERT_THAT(first, SizeIs(4));
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first.at(i).task, mine.at(i).id);
    EXPECT_EQ(first.at(i).ticket, row(mine.at(i).id).ticket);
  }
}

TEST_P(StoreContract, AWorkersTasksAreHeldByItsName) {
  submit_many(2);
  const Task mine = lease("w", kHour).at(0);
  lease("W", kHour);

  const std::vector<Held> held =
      must(reader().held_by(Owner(WorkerName("w")), std::nullopt, 10, kWithin));

  ASSERT_THAT(held, SizeIs(1));
  EXPECT_EQ(held.at(0).task, mine.id);
}

}  // namespace
}  // namespace recourse::store::contract
