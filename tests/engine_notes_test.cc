// What handlers say while they run, as a user sees it, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "recourse/engine.h"
#include "recourse/testing.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

using recourse::testing::TestEngine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

std::vector<std::string> texts_of(const std::vector<NoteView>& notes) {
  std::vector<std::string> texts;
  for (const NoteView& note : notes) texts.push_back(note.text);
  return texts;
}

TEST_P(EngineOnStore, NotesAreSeenWhileTheHandlerRuns) {
  std::atomic<bool> seen = false;
  engine_.handle_bytes("work", [&](const Attempt& attempt) {
    attempt.note("looks for the file");
    attempt.progress(0.4, "reads it");
    while (!seen && !attempt.stop_requested()) std::this_thread::sleep_for(1ms);
    attempt.progress(1);
    return done();
  });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();
  EXPECT_TRUE(eventually([&] { return engine_.notes(id).value().size() == 2; }));
  EXPECT_EQ(engine_.find(id).value().state, "running");
  EXPECT_THAT(progress_of(engine_.notes(id).value()), Optional(0.4));
  seen = true;

  // The last words are there with the success.
  EXPECT_TRUE(reaches(id, "succeeded"));
  const std::vector<NoteView> notes = engine_.notes(id).value();
  EXPECT_THAT(texts_of(notes), ElementsAre("looks for the file", "reads it", ""));
  EXPECT_THAT(progress_of(notes), Optional(1.0));
  EXPECT_EQ(notes[0].attempt, 1);
  EXPECT_EQ(notes[0].progress, std::nullopt);
}

TEST_P(EngineOnStore, NotesOfEveryAttemptAreKeptInOrder) {
  engine_.handle_bytes(
      "work",
      [&](const Attempt& attempt) {
        attempt.note("attempt " + std::to_string(attempt.number()));
        return attempt.number() >= 3;
      },
      quick());
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();

  ASSERT_TRUE(reaches(id, "succeeded"));
  const std::vector<NoteView> notes = engine_.notes(id).value();
  EXPECT_THAT(texts_of(notes), ElementsAre("attempt 1", "attempt 2", "attempt 3"));
  EXPECT_EQ(notes.back().attempt, 3);
}

TEST_P(EngineOnStore, AHandlerThatTalksWithoutEndIsHeardToItsLastWord) {
  engine_.handle_bytes("work", [&](const Attempt& attempt) {
    for (int i = 0; i < 20'000; ++i) attempt.note(std::to_string(i));
    return done();
  });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();

  ASSERT_TRUE(reaches(id, "succeeded"));
  const std::vector<NoteView> notes = engine_.notes(id).value();
  EXPECT_LE(notes.size(), 100U);
  EXPECT_EQ(notes.back().text, "19999");
}

TEST_P(EngineOnStore, ManyThreadsOfOneAttemptMaySpeak) {
  engine_.handle_bytes("work", [&](const Attempt& attempt) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) attempt.progress(n / 500.0);
      });
    }
    for (std::thread& thread : threads) thread.join();
    attempt.progress(1, "all");
    return done();
  });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();

  ASSERT_TRUE(reaches(id, "succeeded"));
  EXPECT_EQ(engine_.notes(id).value().back().text, "all");
}

TEST_P(EngineOnStore, WhatIsSaidAfterTheTimeWasUpGoesUnheard) {
  std::atomic<bool> ended = false;
  engine_.handle_bytes("work", [&](const Attempt& attempt) {
    attempt.note("in time");
    while (!attempt.stop_requested()) std::this_thread::sleep_for(1ms);
    attempt.note("too late");
    ended = true;
    return done();
  });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit({.max_retries = 0, .timeout = 100ms});

  ASSERT_TRUE(reaches(id, "dead"));
  ASSERT_TRUE(eventually([&] { return ended.load(); }));
  (void)engine_.stop();
  EXPECT_THAT(texts_of(engine_.notes(id).value()), ElementsAre("in time"));
}

TEST_P(EngineOnStore, BadNotesAreMadeFit) {
  std::string euros;
  for (int i = 0; i < 1'000; ++i) euros += "\xE2\x82\xAC";
  engine_.handle_bytes("work", [&](const Attempt& attempt) {
    attempt.note("");
    attempt.note("a\xFF");
    attempt.note(euros + "\xE2\x82\xAC");
    attempt.progress(-1, "low");
    attempt.progress(std::numeric_limits<double>::infinity(), "high");
    attempt.progress(std::numeric_limits<double>::quiet_NaN(), "none");
    return done();
  });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();

  ASSERT_TRUE(reaches(id, "succeeded"));
  const std::vector<NoteView> notes = engine_.notes(id).value();
  EXPECT_THAT(texts_of(notes), ElementsAre("a\xEF\xBF\xBD", euros, "low", "high", "none"));
  EXPECT_THAT(notes[2].progress, Optional(0.0));
  EXPECT_THAT(notes[3].progress, Optional(1.0));
  EXPECT_EQ(notes[4].progress, std::nullopt);
}

TEST_P(EngineOnStore, ASilentTaskHasNoNotesAndAStrangeOneIsNotFound) {
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine_.start());
  const std::string id = submit();
  ASSERT_TRUE(reaches(id, "succeeded"));

  EXPECT_THAT(engine_.notes(id).value(), IsEmpty());
  EXPECT_EQ(engine_.notes(engine_.new_id()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine_.notes("nonsense").error().code, ErrorCode::kInvalid);
}

TEST(TestEngine, NotesAreThereWhenTheHandlerHasRun) {
  TestEngine engine;
  engine.handle_bytes("work", [](const Attempt& attempt) {
    for (int i = 0; i < 50; ++i) attempt.note(std::to_string(i));
    return done();
  });
  engine.handle_bytes("slow", [](const Attempt& attempt) {
    attempt.progress(0.5);
    for (int i = 0; i < 50; ++i) attempt.note(std::to_string(i));
    return snooze(10ms);
  });
  const std::string id = engine.submit_bytes("work", "{}").value();
  const std::string slow = engine.submit_bytes("slow", "{}").value();

  engine.run_due();

  // The newest of what waits, and the newest progress whatever else was said.
  EXPECT_EQ(engine.notes(id).value().back().text, "49");
  EXPECT_THAT(engine.notes(id).value(), SizeIs(16));
  EXPECT_THAT(progress_of(engine.notes(slow).value()), Optional(0.5));
}

}  // namespace
}  // namespace recourse::tests
