#!/usr/bin/env python3
"""Which tests tools/changed.py chooses for a change."""

import sys
import unittest

sys.dont_write_bytecode = True

from changed import Map

MAP = """\
test|guard_test|guard||guard_test|
test|guard_server_test|guard|embed|guard_server_test,guard_node|
test|message_test|message|embed|message_test|
test|cli_test|cli|api|recourse_program|tests/cli_test.py
test|docs_cli|cli||recourse_program|docs/cli.md
test|tidy||||.
target|recourse_base|library|src/base||src/base/text.cc,src/base/text.h
target|recourse_engine|library|src/engine|recourse_base|src/engine/node.cc
target|recourse_guard|library|src/guard|recourse_engine|src/guard/scan.cc
target|recourse_message|library|src/message|recourse_engine|src/message/feeder.cc
target|recourse_embed|library|src/embed|recourse_guard,recourse_message|src/embed/engine.cc
target|recourse_cli|library|src/cli|recourse_base|src/cli/table.cc
target|recourse_api|library|src/api|recourse_guard,recourse_message|src/api/routes.cc
target|recourse_program|other|src/app|recourse_api,recourse_cli|src/app/main.cc
target|guard_test|other|src/guard|recourse_guard|src/guard/scan_test.cc
target|support|other|tests|recourse_base|tests/support/place.h
target|guard_node|other|tests|recourse_embed|tests/guard_node.cc
target|guard_server_test|other|tests|recourse_embed,support|tests/guard_test.cc
target|message_test|other|tests|recourse_embed,support|tests/message_test.cc
"""


def chosen(*files: str) -> set[str]:
    choice = Map(MAP).choose(files)
    return {"everything"} if choice.everything else {test.name for test in choice.tests}


class Changed(unittest.TestCase):
    def test_a_library_touches_what_is_about_it_and_no_neighbour(self):
        self.assertEqual(chosen("src/guard/scan.cc"), {"guard_test", "guard_server_test", "tidy"})

    def test_a_library_touches_what_is_about_those_that_link_it(self):
        self.assertEqual(chosen("src/engine/node.cc"), {"guard_test", "guard_server_test", "message_test", "tidy"})

    def test_the_way_that_a_test_takes_counts_and_what_lies_behind_it_does_not(self):
        self.assertEqual(chosen("src/embed/engine.cc"), {"guard_server_test", "message_test", "tidy"})
        self.assertEqual(chosen("src/api/routes.cc"), {"cli_test", "tidy"})

    def test_a_test_touches_itself(self):
        self.assertEqual(chosen("tests/guard_test.cc"), {"guard_server_test", "tidy"})
        self.assertEqual(chosen("src/guard/scan_test.cc"), {"guard_test", "tidy"})

    def test_a_program_that_a_test_starts_touches_it(self):
        self.assertEqual(chosen("tests/guard_node.cc"), {"guard_server_test", "tidy"})
        self.assertEqual(chosen("src/app/main.cc"), {"cli_test", "docs_cli", "tidy"})

    def test_what_tests_share_touches_them_all(self):
        self.assertEqual(chosen("tests/support/place.h"), {"guard_server_test", "message_test", "tidy"})

    def test_a_file_that_a_test_reads_touches_it(self):
        self.assertEqual(chosen("docs/cli.md"), {"docs_cli", "tidy"})
        self.assertEqual(chosen("tests/cli_test.py"), {"cli_test", "tidy"})

    def test_what_no_test_has_to_do_with_is_read_by_the_linter_alone(self):
        self.assertEqual(chosen("README.md"), {"tidy"})

    def test_how_a_folder_is_built_is_a_change_in_it(self):
        self.assertEqual(chosen("src/cli/CMakeLists.txt"), {"cli_test", "docs_cli", "tidy"})

    def test_how_everything_is_built_is_a_change_in_everything(self):
        self.assertEqual(chosen("cmake/RecourseLots.cmake"), {"everything"})

    def test_a_source_that_nobody_lists_is_not_passed_over(self):
        self.assertEqual(chosen("src/guard/new.cc"), {"everything"})

    def test_no_change_touches_nothing(self):
        self.assertEqual(chosen(), set())


if __name__ == "__main__":
    unittest.main()
