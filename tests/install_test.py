#!/usr/bin/env python3
"""Installs a build and uses it as a stranger would: examples/quick_start.cc against the installed library.

    python3 tests/install_test.py build/release
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/release").resolve()
EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples/quick_start.cc"

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES CXX)
find_package(Recourse 0.1 CONFIG REQUIRED COMPONENTS sqlite)
add_executable(quick_start "{example}")
target_link_libraries(quick_start PRIVATE Recourse::recourse)
"""


def run(*command, **options) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="recourse-install-")))
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    def configure(self, project: str) -> pathlib.Path:
        source = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir=self.folder)))
        (source / "CMakeLists.txt").write_text(project)
        run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        return source / "build"

    def test_the_program_runs_with_its_configuration(self):
        program = self.prefix / "bin/recourse"

        self.assertRegex(run(program, "version"), r"^recourse \d+\.\d+\.\d+\n$")
        run(program, "config", "check", "--config", self.prefix / "etc/recourse/recourse.yaml")

    def test_each_shell_finds_its_completion(self):
        share = self.prefix / "share"

        run("bash", "-c", f". {share}/bash-completion/completions/recourse && complete -p recourse")
        self.assertTrue((share / "zsh/site-functions/_recourse").read_text().startswith("#compdef recourse\n"))
        self.assertIn("complete -c recourse", (share / "fish/vendor_completions.d/recourse.fish").read_text())

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_understands_the_unit_and_finds_it_shut(self):
        unit = self.folder / "recourse.service"
        text = (self.prefix / "lib/systemd/system/recourse.service").read_text()
        # Written for the prefix of the build; this one has another.
        unit.write_text(re.sub(r"=\S+/bin/recourse ", f"={self.prefix}/bin/recourse ", text))

        said = run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit)
        run("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit)

        self.assertNotIn("recourse.service", said)

    def test_a_project_finds_the_library_with_cmake(self):
        build = self.configure(PROJECT.format(example=EXAMPLE))

        run("cmake", "--build", build)

        run(build / "quick_start")

    def test_a_store_that_there_is_not_is_refused(self):
        with self.assertRaisesRegex(AssertionError, "no store .oracle"):
            self.configure(PROJECT.replace("sqlite", "sqlite oracle"))

    def test_a_project_finds_the_library_with_pkg_config(self):
        [pkgconfig] = self.prefix.glob("lib*/**/pkgconfig")
        flags = run("pkg-config", "--cflags", "--libs", "recourse",
                    env={**os.environ, "PKG_CONFIG_PATH": str(pkgconfig)}).split()

        run("g++", "-std=c++20", EXAMPLE, "-o", self.folder / "quick_start", *flags)

        run(self.folder / "quick_start", f"sqlite:{self.folder}/tasks.db")


if __name__ == "__main__":
    unittest.main()
