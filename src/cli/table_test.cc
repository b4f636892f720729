#include "cli/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "cli/display_text.h"

namespace recourse::cli {
namespace {

using testing::ElementsAre;

const Colors kNoColors(false);

Table two_tasks() {
  Table table({{.title = "ID"},
               {.title = "TRIES", .align = Align::kRight},
               {.title = "ERROR", .may_shrink = true}});
  table.add_texts({"tsk_1", "3", "connection refused by points.example.com"});
  table.add_texts({"tsk_22", "12", "\u4eba\u5de5\u5904\u7406"});
  return table;
}

TEST(Table, AlignsItsColumnsByCells) {
  EXPECT_EQ(two_tasks().render(std::nullopt, kNoColors),
            "ID      TRIES  ERROR\n"
            "tsk_1       3  connection refused by points.example.com\n"
            "tsk_22     12  \u4eba\u5de5\u5904\u7406\n");
}

TEST(Table, IsCutToTheTerminal) {
  EXPECT_EQ(two_tasks().render(30, kNoColors),
            "ID      TRIES  ERROR\n"
            "tsk_1       3  connection ref\u2026\n"
            "tsk_22     12  \u4eba\u5de5\u5904\u7406\n");
}

TEST(Table, NeverCutsAnId) {
  Table table({{.title = "ID"}, {.title = "NOTE", .may_shrink = true}});
  table.add_texts({"tsk_01J8ZC3V7Q4T9W2X5Y6Z7A8B9C", "a long note about what happened"});

  EXPECT_EQ(table.render(10, kNoColors),
            "ID                              NOTE\n"
            "tsk_01J8ZC3V7Q4T9W2X5Y6Z7A8B9C  a long \u2026\n");
}

TEST(Table, ColumnsLeaveWhereThereIsNoRoom) {
  Table table({{.title = "ID"},
               {.title = "MEMBER", .may_shrink = true, .leaves = 1},
               {.title = "TYPE", .may_shrink = true, .leaves = 2},
               {.title = "ERROR", .may_shrink = true}});
  table.add_texts({"tsk_1", "m-1", "EARN", "points are down"});

  EXPECT_EQ(table.render(34, kNoColors),
            "ID     MEMBER  TYPE  ERROR\ntsk_1  m-1     EARN  points are d\u2026\n");
  EXPECT_EQ(table.render(28, kNoColors),
            "ID     MEMBER  ERROR\ntsk_1  m-1     points are d\u2026\n");
  EXPECT_EQ(table.render(20, kNoColors), "ID     ERROR\ntsk_1  points are d\u2026\n");
  EXPECT_EQ(table.render(std::nullopt, kNoColors),
            "ID     MEMBER  TYPE  ERROR\ntsk_1  m-1     EARN  points are down\n");
}

TEST(Table, StyleDoesNotCountAsWidth) {
  Table table({{.title = "STATE"}, {.title = "ID"}});
  table.add({{"dead", &Colors::red}, {"tsk_1"}});
  table.add({{"pending"}, {"tsk_2"}});

  EXPECT_EQ(table.render(std::nullopt, Colors(true)),
            "\x1b[1mSTATE  \x1b[0m  \x1b[1mID\x1b[0m\n"
            "\x1b[31mdead   \x1b[0m  tsk_1\n"
            "pending  tsk_2\n");
}

TEST(Table, OneRowIsOneLineWhateverIsInIt) {
  Table table({{.title = "ERROR"}});
  table.add_texts({"first\nsecond\x1b[2J"});

  EXPECT_EQ(table.render(std::nullopt, kNoColors), "ERROR\nfirst second\uFFFD[2J\n");
}

TEST(Table, WithoutRowsIsNothing) {
  EXPECT_EQ(Table({{.title = "ID"}}).render(80, kNoColors), "");
  Table ragged({{.title = "A"}, {.title = "B"}});
  ragged.add_texts({"1"});
  ragged.add_texts({"1", "2", "3"});
  EXPECT_EQ(ragged.render(80, kNoColors), "A  B\n1\n1  2\n");
}

TEST(Table, TheWidestColumnGivesWayFirst) {
  const std::vector<Column> columns{{.title = "A", .may_shrink = true},
                                    {.title = "B", .may_shrink = true}};

  EXPECT_THAT(fit_columns({30, 12}, columns, 34), ElementsAre(20, 12));
  EXPECT_THAT(fit_columns({30, 30}, columns, 42), ElementsAre(20, 20));
  EXPECT_THAT(fit_columns({30, 30}, columns, 0), ElementsAre(8, 8)) << "less says nothing";
}

TEST(Table, FitsEveryTerminalThatCanHoldIt) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& notes, std::uint8_t extra) {
    Table table({{.title = "ID"}, {.title = "NOTE", .may_shrink = true}});
    for (const std::string& note : notes) table.add_texts({"tsk", note});
    const std::size_t width = 3 + 2 + 8 + std::size_t{extra};
    std::istringstream lines(table.render(width, kNoColors));
    for (std::string line; std::getline(lines, line);) RC_ASSERT(width_of(line) <= width);
  }));
}

}  // namespace
}  // namespace recourse::cli
