#!/usr/bin/env python3
"""What cmake/RecourseTests.cmake writes into the map of tests for tools/changed.py, of a small project."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

CMAKE = Path(__file__).resolve().parent.parent / "cmake"

TOP = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "{cmake}")
include(RecourseTargets)
include(RecourseTests)
add_subdirectory(src)
recourse_write_map()
"""

SOURCE_FOLDER = """
recourse_library(store SOURCES store.cc ${CMAKE_CURRENT_BINARY_DIR}/made.cc)
recourse_library(guard SOURCES guard.cc guard.h LINKS recourse_store)
add_library(recourse INTERFACE)
target_link_libraries(recourse INTERFACE recourse_guard)
add_library(Recourse::recourse ALIAS recourse)
add_executable(example main.cc)
target_link_libraries(example PRIVATE Recourse::recourse)
add_custom_target(all_of_it DEPENDS example)
"""


class Map(unittest.TestCase):
    def configure(self, tests: str) -> subprocess.CompletedProcess:
        root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.map = root / "build/tests.map"
        (root / "src").mkdir()
        (root / "CMakeLists.txt").write_text(TOP.format(cmake=CMAKE))
        (root / "src/CMakeLists.txt").write_text(SOURCE_FOLDER + tests)
        for name in ("store.cc", "guard.cc", "guard.h", "main.cc", "guard_test.cc"):
            (root / "src" / name).touch()
        (root / "build/src").mkdir(parents=True)
        (root / "build/src/made.cc").touch()
        return subprocess.run(["cmake", "-G", "Ninja", "-S", root, "-B", root / "build"],
                              capture_output=True, text=True, check=False)

    def lines(self, tests: str) -> list[str]:
        configured = self.configure(tests)
        self.assertEqual(configured.returncode, 0, configured.stderr)
        return self.map.read_text().splitlines()

    def test_what_belongs_together_is_named_from_the_project(self):
        lines = self.lines("recourse_add_test(try COMMAND example ABOUT guard THROUGH store TARGETS example"
                           " FILES ../a.md b.md)")
        self.assertIn("test|try|src|guard|store|example|a.md,src/b.md", lines)
        self.assertIn("target|recourse_store|library|src|recourse_flags|src/store.cc,build/src/made.cc", lines)
        self.assertIn("target|recourse_guard|library|src|recourse_flags,recourse_store|src/guard.cc,src/guard.h", lines)
        self.assertIn("target|recourse|other|src|recourse_guard|", lines)
        self.assertIn("target|example|other|src|recourse|src/main.cc", lines)

    def test_a_unit_test_goes_through_what_it_links(self):
        lines = self.lines("recourse_unit_test(guard SOURCES guard_test.cc LINKS recourse_store GTest::gmock"
                           " FILES a.md)")
        self.assertIn("test|guard_test|src|guard|store|guard_test|src/a.md", lines)

    def test_a_name_that_is_no_library_is_refused(self):
        for tests in ("recourse_add_test(try COMMAND example ABOUT gaurd)",
                      "recourse_add_test(try COMMAND example ABOUT guard THROUGH stoer)",
                      "recourse_unit_test(guard PROGRAM try SOURCES guard_test.cc LINKS recourse_stoer)"):
            configured = self.configure(tests)
            self.assertNotEqual(configured.returncode, 0, tests)
            self.assertRegex(configured.stderr, "try: (gaurd|stoer): a test names this")


if __name__ == "__main__":
    unittest.main()
