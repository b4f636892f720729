#!/usr/bin/env python3
"""Each rule of tidy on a small tree: what it reports and where, and the near miss it leaves alone."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import tidy
from tidy_functions_test import *  # noqa: F403  one command runs both

# Inside a git hook these name the outer repository, and git would list that instead of our trees.
for variable in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[variable]


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path: str, content: str = ""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def list_all_in_cmake(self):
        files = (file.relative_to(self.root).as_posix() for file in self.root.rglob("*.*"))
        self.write("CMakeLists.txt", f"add_library(all {' '.join(files)})\n")

    def findings(self) -> list[str]:
        """`path:line: severity` of each finding in a tree where CMake lists every file."""
        self.list_all_in_cmake()
        return [f"{found.path}:{found.line}: {found.severity}" for found in tidy.check(self.root)[1]]

    def findings_in(self, path: str, content: str) -> list[str]:
        self.write(path, content)
        return self.findings()

    def assert_finds(self, path: str, content: str, line: int = 1):
        self.assertEqual(self.findings_in(path, content), [f"{path}:{line}: error"], content)
        (self.root / path).unlink()

    def assert_clean(self, path: str, content: str):
        self.assertEqual(self.findings_in(path, content), [], content)
        (self.root / path).unlink()

    def run_tidy(self) -> subprocess.CompletedProcess:
        command = [sys.executable, tidy.__file__, str(self.root)]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class CommandLine(TidyTest):
    def test_a_clean_tree_exits_0_with_a_summary(self):
        self.write("src/base/ulid.h", "#pragma once\n")
        self.list_all_in_cmake()
        result = self.run_tidy()
        self.assertEqual((result.returncode, result.stdout), (0, "tidy: 2 files, 0 errors, 0 warnings\n"))

    def test_an_error_exits_1_and_says_where_and_what_to_do(self):
        self.write("src/policy/backoff.h", '#pragma once\n#include "store/store.h"\n')
        self.list_all_in_cmake()
        result = self.run_tidy()
        self.assertEqual(result.returncode, 1)
        self.assertIn("src/policy/backoff.h:2: error: policy may not include store/store.h", result.stdout)
        self.assertTrue(result.stdout.endswith("tidy: 2 files, 1 errors, 0 warnings\n"))

    def test_a_warning_alone_exits_0(self):
        self.write("tools/long.py", "x = 1\n" * 400)
        result = self.run_tidy()
        self.assertEqual(result.returncode, 0)
        self.assertIn("tools/long.py:1: warning: file of 400 lines", result.stdout)

    def test_what_git_ignores_is_not_read_and_what_is_not_added_yet_is(self):
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        self.write(".gitignore", "generated/\n")
        self.write("generated/a.py", "x = 1\n" * 700)
        self.write("new.py", "x = 1\n" * 700)
        self.assertEqual(self.findings(), ["new.py:1: error"])

    def test_without_git_build_folders_are_skipped(self):
        self.write("build/a.py", "x = 1\n" * 700)
        self.write("web/node_modules/b.ts", "x\n" * 700)
        self.assertEqual(self.findings(), [])


class IncludeArrows(TidyTest):
    def test_against_an_arrow_is_an_error(self):
        for path, target in (
            ("src/policy/a.h", "store/store.h"),
            ("src/engine/a.cc", "store/sqlite/store.h"),
            ("src/engine/core/a.cc", "engine/runtime.h"),
            ("src/engine/core/a.cc", "store/memory/store.h"),
            ("src/store/sqlite/a.cc", "store/postgres/store.h"),
            ("src/store/sqlite/a.cc", "sql/postgres/connection.h"),
            ("src/store/sqlite/a.cc", "sql/mysql/connection.h"),
            ("src/store/memory/a.cc", "sql/statement.h"),
            ("src/sql/sqlite/a.cc", "sql/mysql/connection.h"),
            ("src/store/a.cc", "store/memory/store.h"),
            ("src/base/a.h", "task/state.h"),
            ("src/task/a.h", "policy/backoff.h"),
            ("src/cli/a.cc", "engine/engine.h"),
            ("src/runner/a_test.cc", "api/routes.h"),
            ("src/api/a.cc", "app/config.h"),
            ("src/app/a.cc", "sim/world.h"),
            ("bench/a.cc", "app/config.h"),
            ("bench/a.cc", "tests/engine_fixture.h"),
            ("sim/a.cc", "tests/support/bulk_rows.h"),
            ("tests/a.cc", "sim/world.h"),
        ):
            self.assert_finds(path, f'#pragma once\n\n#include "{target}"\n', line=3)

    def test_along_an_arrow_is_fine_even_over_several_folders(self):
        for path, target in (
            ("src/runner/a.cc", "task/state.h"),
            ("src/engine/a.cc", "store/store.h"),
            ("src/engine/a.cc", "engine/core/core.h"),
            ("src/engine/core/a.cc", "store/store.h"),
            ("src/store/sqlite/a.cc", "sql/sqlite/connection.h"),
            ("src/store/sqlite/a.cc", "sql/statement.h"),
            ("src/sql/a.cc", "sql/mysql/connection.h"),
            ("src/message/kafka/a.cc", "message/door.h"),
            ("src/guard/a.cc", "sql/postgres/connection.h"),
            ("src/app/wire.cc", "store/mysql/store.h"),
            ("src/base/a.cc", "recourse/task.h"),
            ("sim/a.cc", "store/memory/store.h"),
            ("sim/a.cc", "sim/world.h"),
            ("bench/a.cc", "engine/core/core.h"),
            ("bench/a.cc", "tests/support/bulk_rows.h"),
        ):
            self.assert_clean(path, f'#include "{target}"\n#include <vector>\n')

    def test_an_include_in_a_comment_does_not_count(self):
        self.assert_clean("src/base/a.h", '// #include "app/config.h"\n/*\n#include "app/config.h"\n*/\n')

    def test_an_include_without_its_folder_is_an_error(self):
        for target in ("ulid.h", "../base/ulid.h", "./ulid.h", "task/../store/store.h"):
            self.assert_finds("src/base/a.cc", f'#include "{target}"\n')

    def test_an_unknown_folder_is_an_error_on_both_ends(self):
        self.assert_finds("src/app/a.cc", '#include "polcy/backoff.h"\n')
        self.assert_finds("src/app/a.cc", '#include "store/sqllite/store.h"\n')
        self.assert_finds("src/util/strings.cc", "")
        self.assert_finds("src/main.cc", "")

    def test_angle_brackets_do_not_get_round_the_arrows(self):
        self.assert_finds("src/base/a.cc", "#include <app/config.h>\n")
        self.assert_clean("src/base/a.cc", "#include <recourse/task.h>\n#include <gtest/gtest.h>\n")

    def test_the_store_contract_is_for_tests(self):
        include = '#include "store/contract/suite.h"\n'
        self.assert_finds("src/store/sqlite/store.cc", include)
        self.assert_finds("src/app/wire.cc", include)
        for path in ("src/store/sqlite/store_test.cc", "src/store/contract/a.cc", "sim/a.cc"):
            self.assert_clean(path, include)

    def test_a_public_header_shows_only_the_standard_library_and_its_neighbours(self):
        self.assert_clean("include/recourse/a.h", '#include <vector>\n#include "recourse/b.h"\n')
        self.assert_clean("include/recourse/json.h", "#include <nlohmann/json.hpp>\n")
        for include in ('"base/ulid.h"', "<nlohmann/json.hpp>", "<sqlite3.h>"):
            self.assert_finds("include/recourse/a.h", f"#include {include}\n")

    def test_examples_use_the_public_headers_once_there_are_any(self):
        self.assert_clean("examples/a.cc", '#include "engine/engine.h"\n')
        self.write("include/recourse/recourse.h")
        self.assert_finds("examples/a.cc", '#include "engine/engine.h"\n')
        self.assert_clean("examples/a.cc", '#include <recourse/recourse.h>\n#include "recourse/a.h"\n')


class HiddenInputs(TidyTest):
    def test_a_pure_folder_may_not_touch_the_world(self):
        for code in (
            "auto now = std::chrono::system_clock::now();", "auto t = std::time(nullptr);",
            "::time(&t);", "auto t = time(nullptr);",
            "std::random_device device;", "int n = 1'000, r = rand(), m = 2'000;",
            "std::this_thread::sleep_for(1s);", "sleep(1);",
            "std::thread worker;", "std::mutex mutex;", "pthread_create(&t);", "std::atomic<int> n;",
            'auto home = std::getenv("HOME");', "std::cout << 1;", 'printf("x");', 'std::fprintf(f, "x");',
            "#include <atomic>", "#include <iostream>", "#include <sys/socket.h>",
            '#include "base/mutex.h"', '#include "base/clock.h"', '#include "base/ulid_source.h"',
            "auto t = SystemClock().now();", "const Clock& clock_;", "MutexLock lock(mutex_);",
        ):
            for folder in ("task", "policy", "timing", "engine/core"):
                self.assert_finds(f"src/{folder}/a.cc", f"\n{code}\n", line=2)
        self.assert_finds("src/policy/a_test.cc", "std::jthread t;\n")

    def test_comments_strings_and_lookalikes_are_fine_in_a_pure_folder(self):
        for code in (
            "// no system_clock here", "/* std::mutex\n getenv */", 'auto s = "\\"steady_clock";',
            'auto s = R"sql(\nrand() " getenv)sql";', "int n = 1'000'000; // '\nchar c = '\"'; // rand()",
            "std::snprintf(b, n, f);", "fmt::format(f);", "std::exception_ptr e;", "std::future_error e;",
            "rng.rand(); clock->time(); strand(1); asleep(2);", "TimePoint time() const;",
            "#include <sstream>", '#include "base/time.h"', "std::chrono::sys_time<D> t;",
        ):
            self.assert_clean("src/policy/a.cc", code + "\n")

    def test_a_unit_test_neither_sleeps_nor_reads_a_clock_but_may_have_threads(self):
        self.assert_finds("src/runner/a_test.cc", "\nstd::this_thread::sleep_for(1ms);\n", line=2)
        self.assert_finds("src/runner/a_test.cc", "auto t = steady_clock::now();\n")
        self.assert_clean("src/runner/a_test.cc", "std::jthread t;\nstd::mutex m;\n")
        self.assert_clean("src/runner/a.cc", "auto t = steady_clock::now();\n")
        self.assert_clean("tests/kill_test.cc", "std::this_thread::sleep_for(1ms);\n")

    def test_the_environment_is_read_in_app_only(self):
        read = 'auto url = std::getenv("RECOURSE_URL");\n'
        self.assert_finds("src/http/a.cc", read)
        self.assert_finds("src/store/mysql/a_test.cc", read)
        self.assert_clean("src/app/config.cc", read)
        self.assert_clean("tests/a.cc", read)


class FileSizes(TidyTest):
    def test_a_file_warns_over_350_lines_and_fails_over_600(self):
        for lines, expected in ((350, []), (400, ["warning"]), (600, ["warning"]), (700, ["error"])):
            for path in ("src/base/a.cc", "dev", "web/a.tsx", "tools/a.sh"):
                found = self.findings_in(path, "//\n" * lines)
                self.assertEqual(found, [f"{path}:1: {severity}" for severity in expected])
                (self.root / path).unlink()

    def test_documents_may_be_long(self):
        self.assert_clean("docs/guarantees.md", "x\n" * 700)


class SourceLists(TidyTest):
    def findings_with(self, path: str, cmake_path: str, cmake: str) -> list[str]:
        self.write(path)
        self.write(cmake_path, cmake)
        found = [str(finding) for finding in tidy.check(self.root)[1]]
        (self.root / cmake_path).unlink()
        return found

    def test_a_file_no_cmakelists_names_is_an_error(self):
        path = "src/base/ulid.cc"
        for cmake_path, cmake in (
            ("src/base/CMakeLists.txt", "add_library(base my_ulid.cc ulid.cc.in ulid)"),
            ("src/base/CMakeLists.txt", "add_library(base) # ulid.cc\n#[[\nulid.cc ]]"),
            ("src/CMakeLists.txt", "add_library(base ulid.cc)"),
            ("src/task/CMakeLists.txt", "add_library(base ulid.cc)"),
        ):
            found = self.findings_with(path, cmake_path, cmake)
            self.assertEqual(len(found), 1, cmake)
            self.assertRegex(found[0], r"^src/base/ulid\.cc:1: error: no CMakeLists\.txt lists")

    def test_its_own_folder_or_one_above_may_name_it(self):
        for cmake_path, cmake in (
            ("src/base/CMakeLists.txt", "# the ids\nadd_library(base\n  ulid.cc)"),
            ("src/base/CMakeLists.txt", 'set(x "#")\nf("${CMAKE_CURRENT_SOURCE_DIR}/ulid.cc")'),
            ("src/CMakeLists.txt", "add_library(base base/ulid.cc)"),
            ("CMakeLists.txt", "add_library(base src/base/ulid.cc)"),
        ):
            self.assertEqual(self.findings_with("src/base/ulid.cc", cmake_path, cmake), [], cmake)

    def test_other_spellings_of_cpp_do_not_get_round_the_rules(self):
        for name in ("a.cpp", "a.hpp", "a.inl"):
            self.assert_finds(f"src/policy/{name}", "auto t = std::chrono::system_clock::now();\n")

    def test_globs_are_forbidden_but_may_be_talked_about(self):
        self.assert_finds("src/base/CMakeLists.txt", "\nfile( GLOB_RECURSE sources *.cc)\n", line=2)
        self.assert_finds("cmake/all.cmake", "#[[\n]]\naux_source_directory(. sources)\n", line=3)
        self.assert_clean("src/base/CMakeLists.txt", "# never file(GLOB ...)\n")


class StrayText(TidyTest):
    def test_a_machine_path_is_an_error(self):
        for pieces in (("/wo", "rk/main/x"), ("/ro", "ot/.cache"), ("/ho", "me/ann/x"), ("/Us", "ers/ann"),
                       ("/tmp/ba", "sh_jobs.0/1"), ("..", "/shared/x"), ("x/.lib", "rary/y"),
                       ("-I/wo", "rk/include"), ("file:///wo", "rk/x")):
            self.assert_finds("docs/a.md", f"one\ntwo `{''.join(pieces)}`\n", line=2)

    def test_ordinary_paths_are_fine(self):
        for path in ("/usr/bin/env", "/usr/bin/chromium", "https://example.org/wo" "rk/x", "https://wo" "rk/x",
                     "src/ro" "ot/x", "$DIR/ho" "me/x", "/tmp/recourse.db",
                     "/tmp/recourse.XXXXXX", "/workers/7", "/home"):
            self.assert_clean("docs/a.md", path + "\n")

    def test_a_registry_host_is_an_error(self):
        for host in ("deb.debian", "registry.npmjs", "pypi", "files.pythonhosted", "proxy.golang"):
            self.assert_finds("deploy/Dockerfile", f"FROM x\nRUN curl https://{host}.{'org'}/y\n", line=2)
        self.assert_finds("a.toml", "index." + "crates.io\n")

    def test_a_licence_and_a_binary_are_skipped(self):
        path = "/wo" "rk/main\n"
        self.assert_clean("LICENSE", path)
        self.assert_clean("web/icon.bin", "\0" + path)

    def test_a_reminder_carries_an_issue_number(self):
        for word in ("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK"):
            for path in ("src/base/a.cc", "dev", "web/a.ts", "src/base/CMakeLists.txt"):
                self.assert_finds(path, f"\n# {word}: later\n", line=2)
            self.assert_finds("src/base/a.cc", f"// {word}(ann): later\n")
            self.assert_clean("src/base/a.cc", f"// {word}(#12): later\n// {word}S {word}_x\n")
            self.assert_clean("docs/a.md", word)


if __name__ == "__main__":
    unittest.main()
