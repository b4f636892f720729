#!/usr/bin/env python3
"""Says which tests a change can have touched: what `./dev test --changed` builds and runs.

    git diff --name-only HEAD | python3 tools/changed.py build/release/tests.map

The map is written by CMake (cmake/RecourseTests.cmake). Prints two lines: the targets to build, and a regular
expression for `ctest -L`. Both are empty where nothing has to be run; `all` stands for everything.

A file belongs to the targets that list it. A test is chosen when
- the file belongs to a library that the test is about, or that such a library links: the include arrows;
- the file belongs to a library that the test goes through, or to a program or a support library of the tests that
  its own programs link or start;
- the test names the file, or names the folder `.`.
"""

import dataclasses
import sys
from pathlib import Path
from typing import Iterable

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "recourse_"
# How everything is built: a change in it is a change in everything.
EVERYTHING = ("CMakeLists.txt", "CMakePresets.json", "cmake/RecourseTargets.cmake", "cmake/RecourseTests.cmake",
              "cmake/RecourseLots.cmake")
SOURCES = (".cc", ".h")


@dataclasses.dataclass
class Target:
    name: str
    # Made by recourse_library(): what a test may be about. Whatever else a test links is a means of the tests.
    is_library: bool
    folder: str
    links: list[str]
    files: list[str]


@dataclasses.dataclass
class Test:
    name: str
    about: list[str]
    through: list[str]
    targets: list[str]
    files: list[str]


@dataclasses.dataclass
class Choice:
    tests: list[Test]
    # Why everything is chosen; empty where it is not.
    everything: str = ""


class Map:
    def __init__(self, text: str):
        self.targets: dict[str, Target] = {}
        self.tests: list[Test] = []
        for line in text.splitlines():
            kind, name, *fields = line.split("|")
            if kind == "target":
                sort, folder, links, files = fields
                self.targets[name] = Target(name, sort == "library", folder, words(links), words(files))
            else:
                self.tests.append(Test(name, *map(words, fields)))
        self._closures: dict[str, set[str]] = {}

    def closure(self, name: str) -> set[str]:
        """The target, and all that it links."""
        if name not in self._closures:
            seen: set[str] = set()
            waiting = [name]
            while waiting:
                one = waiting.pop()
                if one not in seen:
                    seen.add(one)
                    waiting += self.targets[one].links if one in self.targets else []
            self._closures[name] = seen
        return self._closures[name]

    def touches(self, test: Test, changed: set[str], files: set[str]) -> bool:
        about = set().union(*(self.closure(LIBRARY + library) for library in test.about))
        through = {LIBRARY + library for library in test.through}
        means = set().union(*(self.closure(target) for target in test.targets))
        means -= {name for name, target in self.targets.items() if target.is_library}
        return "." in test.files or bool((about | through | means) & changed) or bool(set(test.files) & files)

    def choose(self, files: Iterable[str]) -> Choice:
        files = {file for file in files if file}
        for file in sorted(files):
            if file in EVERYTHING:
                return Choice(self.tests, file)
        changed: set[str] = set()
        for file in files:
            owners = self.owners(file)
            if not owners and file.endswith(SOURCES) and not file.startswith("bench/"):
                return Choice(self.tests, f"{file}, which no target lists")
            changed |= owners
        if not files:
            return Choice([])
        return Choice([test for test in self.tests if self.touches(test, changed, files)])

    def owners(self, file: str) -> set[str]:
        if file.startswith("include/"):
            return self.including(file.removeprefix("include/"))
        if Path(file).name == "CMakeLists.txt":
            folder = str(Path(file).parent)
            return {target.name for target in self.targets.values() if target.folder == folder}
        return {target.name for target in self.targets.values() if file in target.files}

    def including(self, header: str) -> set[str]:
        """A public header belongs to those who include it, be it through another public one."""
        owners: set[str] = set()
        text = f'#include "{header}"'
        for target in self.targets.values():
            if any(text in read(file) for file in target.files if file.endswith(SOURCES)):
                owners.add(target.name)
        for public in sorted((ROOT / "include/recourse").glob("*.h")):
            name = f"recourse/{public.name}"
            if name != header and text in public.read_text():
                owners |= self.including(name)
        return owners


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def read(file: str) -> str:
    path = ROOT / file
    return path.read_text() if path.is_file() else ""


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    choice = Map(Path(sys.argv[1]).read_text()).choose(line.strip() for line in sys.stdin)
    if choice.everything:
        print(f"all\nall\n{choice.everything}")
        return 0
    print(" ".join(sorted({target for test in choice.tests for target in test.targets})))
    print("^(" + "|".join(f"of-{test.name}" for test in choice.tests) + ")$" if choice.tests else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
