#!/usr/bin/env python3
"""When tools/tidy_cached.py runs clang-tidy, by a small project and a clang-tidy-16 that only notes its runs."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

TOOL = Path(__file__).resolve().parent / "tidy_cached.py"

CLANG_TIDY = """#!/bin/sh
echo run >>"$RUNS"
! grep FINDING "$5"
"""
PACKAGES = """#!/bin/sh
cat "$INSTALLED"
"""


class TidyCached(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.runs, self.installed = self.root / "runs", self.root / "installed"
        self.write("src/task/state.h", "enum class State {};\n")
        self.write("src/task/record.h", '#include "task/state.h"\n')
        self.write("src/task/record.cc", '#include "task/record.h"\n')
        self.write(".clang-tidy", "Checks: '*'\n")
        self.write("installed", "libfmt-dev 9.1.0\nlibfmt9 9.1.0\nlibllvm16 16.0.6\n")
        self.write("bin/clang-tidy-16", CLANG_TIDY).chmod(0o755)
        self.write("bin/dpkg-query", PACKAGES).chmod(0o755)
        self.write("tools/tidy_cached.py", TOOL.read_text())
        self.compile_with("-O0")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def compile_with(self, *flags: str):
        source = str(self.root / "src/task/record.cc")
        commands = [{"file": source, "command": f"c++ {flag} -c {source}"} for flag in flags]
        self.write("build/compile_commands.json", json.dumps(commands))

    def tidy(self) -> int:
        environment = os.environ | {"PATH": f"{self.root}/bin:{os.environ['PATH']}", "RUNS": str(self.runs),
                                    "INSTALLED": str(self.installed), "XDG_CACHE_HOME": str(self.root / "cache")}
        return subprocess.run([sys.executable, self.root / "tools/tidy_cached.py", self.root / "build",
                               self.root / "src/task/record.cc"], env=environment, capture_output=True,
                              check=False).returncode

    def runs_in(self, times: int) -> int:
        """How often clang-tidy ran when the source was looked at so often, and found clean."""
        self.runs.write_text("")
        for _ in range(times):
            self.assertEqual(self.tidy(), 0)
        return len(self.runs.read_text().splitlines())

    def assert_read_once_more(self):
        self.assertEqual(self.runs_in(2), 1)

    def test_what_was_clean_is_not_read_again(self):
        self.assertEqual(self.runs_in(3), 1)

    def test_another_source_is_read(self):
        self.runs_in(1)
        self.write("src/task/record.cc", '#include "task/record.h"\nint x;\n')
        self.assert_read_once_more()

    def test_another_header_is_a_reason_to_read_who_includes_it_through_another(self):
        self.runs_in(1)
        self.write("src/task/state.h", "enum class State { kDone };\n")
        self.assert_read_once_more()

    def test_another_flag_is_a_reason(self):
        self.runs_in(1)
        self.compile_with("-O2")
        self.assert_read_once_more()

    def test_another_target_that_compiles_it_is_a_reason(self):
        self.runs_in(1)
        self.compile_with("-O0", "-DPLANTED")
        self.assert_read_once_more()

    def test_another_rule_is_a_reason(self):
        self.runs_in(1)
        self.write(".clang-tidy", "Checks: 'bugprone-*'\n")
        self.assert_read_once_more()

    def test_another_script_is_a_reason(self):
        self.runs_in(1)
        self.write("tools/tidy_cached.py", TOOL.read_text().replace("(src|bench|", "(src|"))
        self.assert_read_once_more()

    def test_other_headers_of_the_system_are_a_reason(self):
        for package in ("nlohmann-json3-dev", "libstdc++-12-dev", "clang-tidy-16", "libclang-cpp16", "libllvm16"):
            self.installed.write_text(f"{package} 99\n")
            self.assert_read_once_more()

    def test_another_program_is_no_reason(self):
        self.runs_in(1)
        with self.installed.open("a") as installed:
            installed.write("curl 7.88\n")
        self.assertEqual(self.runs_in(1), 0)

    def test_a_finding_is_told_again_and_again(self):
        self.write("src/task/record.cc", "FINDING\n")
        self.assertEqual([self.tidy(), self.tidy()], [1, 1])
        self.assertEqual(len(self.runs.read_text().splitlines()), 2)

    def test_a_source_without_a_command_is_always_read(self):
        self.compile_with()
        self.assertEqual(self.runs_in(3), 3)


if __name__ == "__main__":
    unittest.main()
