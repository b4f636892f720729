// note: what handlers say while they run is kept, in order and up to a bound, of those who have the
// task, and shown for as long as the task is.
#include <string>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Note note_of(const Task& task, int number, std::string text,
             std::optional<int> progress = std::nullopt) {
  return {.task = task.id,
          .fence = task.ticket.fence,
          .number = number,
          .attempt = 1,
          .at = TimePoint(1'700'000'000s + std::chrono::seconds(number)),
          .progress = progress,
          .text = std::move(text)};
}

Jotting said(const Task& task, int number, std::string text,
             std::optional<int> progress = std::nullopt) {
  return {.ticket = task.ticket, .note = note_of(task, number, std::move(text), progress)};
}

bool is_kept(Store& store, const Jotting& item) {
  return must(store.note(std::vector{item}, kWithin)).front();
}

std::vector<std::string> texts_of(Reader& reader, TaskId id) {
  std::vector<std::string> texts;
  for (const Note& note : must(reader.notes(id, kWithin))) texts.push_back(note.text);
  return texts;
}

TEST_P(StoreContract, ANoteIsKeptAsItWasGiven) {
  const Task task = running();
  const Jotting plain = said(task, 1, "looks for \xE2\x82\xAC 7");
  const Jotting half = said(task, 2, "", 500'000);
  const Jotting none = said(task, 3, "begins", 0);

  EXPECT_THAT(must(store().note(std::vector{plain, half}, kWithin)), ElementsAre(true, true));
  EXPECT_TRUE(is_kept(store(), none));

  EXPECT_THAT(must(reader().notes(task.id, kWithin)),
              ElementsAre(plain.note, half.note, none.note));
  EXPECT_EQ(row(task.id), task) << "no fence is raised";
}

TEST_P(StoreContract, NotesAreShownInTheOrderTheyWereSaidInWhateverOrderTheyCome) {
  const Task task = running();
  ASSERT_TRUE(is_kept(store(), said(task, 11, "eleven")));

  (void)must(store().note(
      std::vector{said(task, 9, "nine"), said(task, 2, "two"), said(task, 10, "ten")}, kWithin));
  settle(task, Move::kRetryHere);
  ASSERT_TRUE(is_kept(store(), said(row(task.id), 1, "the next attempt")));

  EXPECT_THAT(texts_of(reader(), task.id),
              ElementsAre("two", "nine", "ten", "eleven", "the next attempt"));
}

TEST_P(StoreContract, ANoteThatComesAgainIsRecognised) {
  const Task task = running();
  const std::vector batch{said(task, 1, "once"), said(task, 1, "twice"), said(task, 2, "more")};

  EXPECT_THAT(must(store().note(batch, kWithin)), Each(true));
  EXPECT_THAT(must(store().note(batch, kWithin)), Each(true));
  EXPECT_TRUE(is_kept(other_store(), said(task, 1, "thrice")));

  EXPECT_THAT(texts_of(reader(), task.id), ElementsAre("once", "more"));
}

TEST_P(StoreContract, NotesAreOfTheirTaskOnly) {
  const Task first = running();
  const Task second = running();
  const Task silent = running();

  const std::vector batch{said(second, 1, "b"), said(first, 1, "a"), said(second, 2, "c")};
  EXPECT_THAT(must(store().note(batch, kWithin)), Each(true));

  EXPECT_THAT(texts_of(reader(), first.id), ElementsAre("a"));
  EXPECT_THAT(texts_of(reader(), second.id), ElementsAre("b", "c"));
  EXPECT_THAT(texts_of(reader(), silent.id), IsEmpty());
  EXPECT_THAT(texts_of(reader(), new_id()), IsEmpty());
}

TEST_P(StoreContract, OfManyNotesTheNewestAreKept) {
  const Task task = running();
  constexpr int kEach = kNotesKept - 10;
  for (int call = 0; call < 3; ++call) {
    std::vector<Jotting> batch;
    for (int i = call * kEach; i < (call + 1) * kEach; ++i) {
      batch.push_back(said(task, i, std::to_string(i)));
    }
    (void)must(store().note(batch, kWithin));
  }
  // What comes late and is older than all that are kept stays away.
  EXPECT_TRUE(is_kept(store(), said(task, 0, "late")));

  const std::vector<std::string> kept = texts_of(reader(), task.id);
  ASSERT_THAT(kept, SizeIs(kNotesKept));
  EXPECT_EQ(kept.front(), std::to_string(3 * kEach - kNotesKept));
  EXPECT_EQ(kept.back(), std::to_string(3 * kEach - 1));
}

TEST_P(StoreContract, OfAWholeBatchOfNotesTheNewestAreKept) {
  const Task task = running();
  std::vector<Jotting> batch;
  for (int i = 0; i < static_cast<int>(kBatchRowsMax); ++i) {
    batch.push_back(said(task, i, std::to_string(i)));
  }

  (void)must(store().note(batch, kWithin));

  const std::vector<std::string> kept = texts_of(reader(), task.id);
  ASSERT_THAT(kept, SizeIs(kNotesKept));
  EXPECT_EQ(kept.back(), batch.back().note.text);
}

TEST_P(StoreContract, AZombiesNotesAreRefused) {
  const Incarnation mortal = join();
  const Task lost = running(spec_of(), mortal);
  const Task mine = running();
  kill(mortal);
  adopt_all();

  const std::vector batch{said(lost, 1, "still here"), said(mine, 1, "me too")};
  EXPECT_THAT(must(store().note(batch, kWithin)), ElementsAre(false, true));
  const Task successor = claim_one();
  ASSERT_EQ(successor.id, lost.id);
  EXPECT_FALSE(is_kept(store(), batch[0]));
  EXPECT_TRUE(is_kept(other_store(), said(successor, 1, "the new owner")));

  EXPECT_THAT(texts_of(reader(), lost.id), ElementsAre("the new owner"));
  EXPECT_THAT(texts_of(reader(), mine.id), ElementsAre("me too"));
}

TEST_P(StoreContract, ANoteUnderAStrangeTicketIsRefused) {
  const Task task = running();
  Jotting strange = said(task, 1, "who am I");
  strange.ticket.lease = new_lease();
  Jotting early = said(task, 1, "not yet");
  early.ticket.fence = next(task.ticket.fence);
  early.note.fence = early.ticket.fence;
  Jotting nobodys = said(task, 1, "no such task");
  nobodys.note.task = new_id();

  EXPECT_THAT(must(store().note(std::vector{strange, early, nobodys}, kWithin)), Each(false));

  EXPECT_THAT(texts_of(reader(), task.id), IsEmpty());
  EXPECT_THAT(texts_of(reader(), nobodys.note.task), IsEmpty());
}

TEST_P(StoreContract, AnOutcomeMayOvertakeTheNotesOfItsAttempt) {
  for (const Move move : {Move::kSucceed, Move::kRetry, Move::kRetryHere, Move::kGiveUp}) {
    const Task task = running();
    settle(task, move);

    EXPECT_TRUE(is_kept(store(), said(task, 1, "just before the end")));

    EXPECT_THAT(texts_of(reader(), task.id), ElementsAre("just before the end")) << to_string(move);
  }
}

TEST_P(StoreContract, NotesThatAnOutcomeBringsOnceMoreAreRecognised) {
  for (const bool outcome_first : {true, false}) {
    const Task task = running();
    const std::vector call{said(task, 1, "first"), said(task, 2, "second")};
    Outcome end = outcome_of(task, Move::kSucceed, store_now());
    end.notes = {note_of(task, 2, "second"), note_of(task, 3, "last", kProgressMax)};

    if (!outcome_first) (void)must(store().note(call, kWithin));
    (void)must(store().apply(std::vector{end}, kWithin));
    if (outcome_first) (void)must(store().note(call, kWithin));

    EXPECT_THAT(texts_of(reader(), task.id), ElementsAre("first", "second", "last"));
  }
}

TEST_P(StoreContract, NotesAreWrittenWithTheOutcome) {
  for (const Move move : {Move::kSucceed, Move::kRetry, Move::kRetryHere, Move::kGiveUp}) {
    const Task task = running();
    ASSERT_TRUE(is_kept(store(), said(task, 1, "first")));
    Outcome end = outcome_of(task, move, store_now());
    end.notes = {note_of(task, 2, "last", kProgressMax)};

    (void)must(store().apply(std::vector{end}, kWithin));
    // Repeating is recognised.
    (void)must(store().apply(std::vector{end}, kWithin));

    const std::vector<Note> notes = must(reader().notes(task.id, kWithin));
    ASSERT_THAT(notes, SizeIs(2)) << to_string(move);
    EXPECT_EQ(notes.back(), end.notes.front());
  }
}

TEST_P(StoreContract, NotesOfARefusedOutcomeAreNotKept) {
  const Task task = running();
  settle(task, Move::kRetry);
  const Task successor = claim_one();
  Outcome late = outcome_of(task, Move::kSucceed, store_now());
  late.notes = {note_of(task, 1, "from the grave")};

  (void)must(store().apply(std::vector{late}, kWithin));

  EXPECT_EQ(row(task.id), successor);
  EXPECT_THAT(texts_of(reader(), task.id), IsEmpty());
}

TEST_P(StoreContract, NotesOutliveTheTasksEndAndGoWithIt) {
  const Task task = running();
  const Task other = running();
  ASSERT_TRUE(is_kept(store(), said(task, 1, "worked")));
  ASSERT_TRUE(is_kept(store(), said(other, 1, "works")));
  apply_one(plan(task, Move::kSucceed, store_now() - 24h * 365 * 20));
  EXPECT_THAT(texts_of(reader(), task.id), ElementsAre("worked"));

  PurgeRequest purge;
  purge.by = "alice";
  EXPECT_EQ(must(store().purge(purge, kWithin)), 1U);

  EXPECT_THAT(texts_of(reader(), task.id), IsEmpty());
  EXPECT_THAT(texts_of(reader(), other.id), ElementsAre("works"));
  EXPECT_FALSE(is_kept(store(), said(task, 1, "after all")));
}

TEST_P(StoreContract, ANotesBadBytesAreReplacedAndItIsCutOnACharacter) {
  const Task task = running();
  std::string cut;
  for (std::size_t i = 0; i < kNoteCharactersMax; ++i) cut += "\xE2\x82\xAC";

  const std::vector batch{said(task, 1,
                               std::string("a\xFF"
                                           "b\0c",
                                           5)),
                          said(task, 2, cut + "\xE2\x82\xAC")};
  EXPECT_THAT(must(store().note(batch, kWithin)), Each(true));

  EXPECT_THAT(texts_of(reader(), task.id), ElementsAre("a\xEF\xBF\xBD"
                                                       "b\xEF\xBF\xBD"
                                                       "c",
                                                       cut));
}

TEST_P(StoreContract, BadNotesAreRefusedWhole) {
  const Task task = running();
  const Jotting good = said(task, 1, "good");
  const auto refused = [&](const std::vector<Jotting>& batch) {
    return code_of(store().note(batch, kWithin)) == ErrorCode::kInvalid;
  };

  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({good, said(task, 1, "", -1)}));
  EXPECT_TRUE(refused({good, said(task, 1, "", kProgressMax + 1)}));
  EXPECT_TRUE(refused(std::vector<Jotting>(kBatchRowsMax + 1, good)));
  Jotting torn = good;
  torn.note.fence = next(good.ticket.fence);
  EXPECT_TRUE(refused({torn}));
  Outcome end = outcome_of(task, Move::kSucceed, store_now());
  end.notes = {note_of(running(), 1, "of another task")};
  EXPECT_EQ(code_of(store().apply(std::vector{end}, kWithin)), ErrorCode::kInvalid);

  EXPECT_THAT(texts_of(reader(), task.id), IsEmpty());
  EXPECT_EQ(row(task.id), task);
}

}  // namespace
}  // namespace recourse::store::contract
