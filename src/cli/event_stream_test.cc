#include "cli/event_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace recourse::cli {
namespace {

const std::string kStream =
    "retry: 2000\n\n"
    "event: task\ndata: {\"a\":1}\n\n"
    ": still here\n\n"
    "event: node\r\ndata: first\r\ndata: second\r\n\r\n"
    "event: half";

std::vector<std::string> read_in_pieces(const std::vector<std::size_t>& cuts) {
  EventReader reader;
  std::vector<std::string> events;
  const auto keep = [&](const StreamEvent& event) {
    events.push_back(event.name + "|" + event.data);
  };
  std::string_view rest = kStream;
  for (const std::size_t cut : cuts) {
    const std::size_t size = std::min(cut, rest.size());
    reader.feed(rest.substr(0, size), keep);
    rest.remove_prefix(size);
  }
  reader.feed(rest, keep);
  return events;
}

const std::vector<std::string> kExpected{"task|{\"a\":1}", "node|first\nsecond"};

TEST(EventReader, SkipsCommentsAndWhatIsNotWholeYet) { EXPECT_EQ(read_in_pieces({}), kExpected); }

RC_GTEST_PROP(EventReader, DoesNotMindWhereThePiecesEnd, ()) {
  const auto cuts =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 20));
  RC_ASSERT(read_in_pieces(cuts) == kExpected);
}

}  // namespace
}  // namespace recourse::cli
