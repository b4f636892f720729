#!/usr/bin/env python3
"""Which tests tools/changed.py chooses for a change."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

from changed import Map

TOOL = Path(__file__).resolve().parent / "changed.py"

MAP = """\
test|guard_test|src/guard|guard||guard_test|
test|guard_server_test|tests|guard|embed|guard_server_test,guard_node|
test|message_test|tests|message|embed|message_test|
test|message_door_test|tests|message|memory|message_door_test|
test|broker_test|tests|message|embed|broker_test|
test|cli_test|tests|cli|api|recourse_program|tests/cli_test.py
test|docs_cli|examples|cli||recourse_program|docs/cli.md
test|install_test|deploy|base|embed|recourse_installed,recourse_archive|deploy/package.cmake
test|map_test|.||||cmake/RecourseTests.cmake
test|tidy|.||||.
target|recourse_base|library|src/base||src/base/text.cc,src/base/text.h
target|recourse_engine|library|src/engine|recourse_base|src/engine/node.cc
target|recourse_memory|library|src/memory|recourse_base|src/memory/data.cc
target|recourse_guard|library|src/guard|recourse_engine|src/guard/scan.cc,src/guard/scan.h,src/guard/guard.h
target|recourse_message|library|src/message|recourse_engine|src/message/feeder.cc
target|recourse_embed|library|src/embed|recourse_guard,recourse_message|src/embed/engine.cc,src/embed/engine.h
target|recourse_cli|library|src/cli|recourse_base|src/cli/table.cc
target|recourse_api|library|src/api|recourse_guard,recourse_message|src/api/routes.cc,src/api/api.json
target|recourse_program|other|src/app|recourse_api,recourse_cli|src/app/main.cc
target|recourse_archive|other|include/recourse||include/recourse/guard.h,include/recourse/json.h
target|guard_test|other|src/guard|recourse_guard|src/guard/scan_test.cc,src/guard/fake_table.h
target|support|other|tests|recourse_base|tests/support/place.cc,tests/support/place.h
target|guard_node|other|tests|recourse_embed|tests/guard_node.cc
target|guard_server_test|other|tests|recourse_embed,support|tests/guard_test.cc,tests/fixture.h
target|message_test|other|tests|recourse_embed,support|tests/message_test.cc
target|message_door_test|other|tests|recourse_message,recourse_memory|tests/door_test.cc
target|broker_test|other|tests|recourse_embed|tests/broker_test.cc
target|wheel_bench|other|bench|recourse_base|bench/wheel_bench.cc
"""

# What the files of the map include.
INCLUDES = {
    "src/guard/guard.h": ["guard/scan.h"],
    "src/guard/scan_test.cc": ["guard/fake_table.h"],
    "src/embed/engine.h": ["guard/guard.h", "recourse/guard.h"],
    "tests/broker_test.cc": ["embed/engine.h", "recourse/json.h"],
    "tests/fixture.h": ["guard/fake_table.h"],
    "tests/guard_test.cc": ["guard/guard.h", "tests/fixture.h"],
    "tests/message_test.cc": ["tests/fixture.h"],
}


class Changed(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for file, names in INCLUDES.items():
            path = self.root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f'#include "{name}"\n' for name in names))

    def chosen(self, *files: str) -> set[str]:
        choice = Map(MAP, self.root).choose(files)
        return {"everything"} if choice.everything else {test.name for test in choice.tests}

    def test_a_library_touches_what_is_about_it_and_no_neighbour(self):
        self.assertEqual(self.chosen("src/guard/scan.cc"), {"guard_test", "guard_server_test", "tidy"})

    def test_a_library_touches_what_is_about_those_that_link_it(self):
        self.assertEqual(self.chosen("src/engine/node.cc"),
                         {"guard_test", "guard_server_test", "message_test", "message_door_test", "broker_test",
                          "tidy"})

    def test_the_way_that_a_test_takes_counts_and_what_lies_behind_it_does_not(self):
        self.assertEqual(self.chosen("src/embed/engine.cc"),
                         {"guard_server_test", "message_test", "broker_test", "install_test", "tidy"})
        self.assertEqual(self.chosen("src/memory/data.cc"), {"message_door_test", "tidy"})
        self.assertEqual(self.chosen("src/api/routes.cc"), {"cli_test", "tidy"})

    def test_a_test_touches_itself(self):
        self.assertEqual(self.chosen("tests/guard_test.cc"), {"guard_server_test", "tidy"})
        self.assertEqual(self.chosen("src/guard/scan_test.cc"), {"guard_test", "tidy"})

    def test_a_program_that_a_test_starts_touches_it(self):
        self.assertEqual(self.chosen("tests/guard_node.cc"), {"guard_server_test", "tidy"})
        self.assertEqual(self.chosen("src/app/main.cc"), {"cli_test", "docs_cli", "tidy"})

    def test_what_tests_share_touches_them_all(self):
        self.assertEqual(self.chosen("tests/support/place.cc"), {"guard_server_test", "message_test", "tidy"})

    def test_a_file_that_a_test_reads_touches_it(self):
        self.assertEqual(self.chosen("docs/cli.md"), {"docs_cli", "tidy"})
        self.assertEqual(self.chosen("tests/cli_test.py"), {"cli_test", "tidy"})

    def test_a_header_touches_those_that_include_it(self):
        self.assertEqual(self.chosen("tests/fixture.h"), {"guard_server_test", "message_test", "tidy"})

    def test_a_header_touches_those_that_include_it_through_another(self):
        self.assertEqual(self.chosen("src/guard/fake_table.h"),
                         {"guard_test", "guard_server_test", "message_test", "tidy"})

    def test_a_header_of_a_library_touches_no_other_library_that_includes_it(self):
        self.assertEqual(self.chosen("src/guard/scan.h"), {"guard_test", "guard_server_test", "tidy"})

    def test_a_public_header_touches_those_that_include_it_and_what_is_installed(self):
        self.assertEqual(self.chosen("include/recourse/json.h"), {"broker_test", "install_test", "tidy"})
        self.assertEqual(self.chosen("include/recourse/guard.h"),
                         {"guard_server_test", "message_test", "broker_test", "install_test", "tidy"})

    def test_documentation_is_read_by_the_linter_alone(self):
        for file in ("README.md", "docs/engine.md", "LICENSE", ".gitignore", ".clang-tidy"):
            self.assertEqual(self.chosen(file), {"tidy"}, file)

    def test_what_only_measures_is_read_by_the_linter_alone(self):
        self.assertEqual(self.chosen("bench/wheel_bench.cc"), {"tidy"})

    def test_how_a_folder_is_built_is_a_change_in_it(self):
        self.assertEqual(self.chosen("src/cli/CMakeLists.txt"), {"cli_test", "docs_cli", "tidy"})
        self.assertEqual(self.chosen("include/recourse/CMakeLists.txt"), {"install_test", "tidy"})

    def test_how_a_folder_is_built_is_a_change_in_its_tests(self):
        self.assertEqual(self.chosen("examples/CMakeLists.txt"), {"docs_cli", "tidy"})
        self.assertEqual(self.chosen("deploy/CMakeLists.txt"), {"install_test", "tidy"})

    def test_how_everything_is_built_is_a_change_in_everything(self):
        for file in ("CMakeLists.txt", "src/CMakeLists.txt", "cmake/RecourseTests.cmake", "CMakePresets.json"):
            self.assertEqual(self.chosen(file), {"everything"}, file)

    def test_what_nobody_owns_is_not_passed_over(self):
        for file in ("src/guard/new.cc", "src/api/new.json", "tools/servers", "dev", "tools/dev/test.bash",
                     "deploy/debian/postinst", "bench/new.h"):
            self.assertEqual(self.chosen(file), {"everything"}, file)

    def test_a_file_that_goes_into_a_source_touches_its_library(self):
        self.assertEqual(self.chosen("src/api/api.json"), {"cli_test", "tidy"})

    def test_no_change_touches_nothing(self):
        self.assertEqual(self.chosen(), set())


class Printed(unittest.TestCase):
    def printed(self, *files: str) -> str:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "tests.map").write_text(MAP)
        return subprocess.run([sys.executable, TOOL, folder / "tests.map"], input="\n".join(files),
                              capture_output=True, text=True, check=True).stdout

    def test_targets_and_labels_are_a_line_each(self):
        self.assertEqual(self.printed("tests/cli_test.py"), "recourse_program\n^(of-cli_test|of-tidy)$\n")

    def test_everything_is_one_line_with_its_reason(self):
        self.assertEqual(self.printed("dev"), "all dev, which belongs to no target and no test\n")

    def test_nothing_is_two_empty_lines(self):
        self.assertEqual(self.printed(), "\n\n")


if __name__ == "__main__":
    unittest.main()
