#!/usr/bin/env python3
"""Says which tests a change can have touched: what `./dev test --changed` builds and runs.

    git diff --name-only HEAD | python3 tools/changed.py build/release/tests.map

The map is written by CMake (cmake/RecourseTests.cmake). Prints two lines, the targets to build and a regular
expression for `ctest -L`, which are empty where nothing has to be run; or one line, `all REASON`, for everything.

A file belongs to the targets that list it, a header also to those that include it, and a CMakeLists.txt to the targets
and tests of its folder. A test is chosen when
- the file belongs to a library that the test is about, or that such a library links: the include arrows;
- the file belongs to a library that the test goes through, or to a program or a support library of the tests that
  its own programs link or start;
- the test names the file, or names the folder `.`, or is made by the file.
A file that belongs to nobody touches everything, unless it is documentation.
"""

import dataclasses
import re
import sys
from pathlib import Path
from typing import Iterable

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "recourse_"
# How everything is built, whoever else names it.
EVERYTHING = ("CMakeLists.txt", "cmake/RecourseLots.cmake", "cmake/RecourseTargets.cmake",
              "cmake/RecourseTests.cmake")
# No test reads it but those that name it. The settings are those of editors, git and `./dev check`.
DOCUMENTATION = re.compile(r"docs/|.*\.md$|LICENSE$|\.gitignore$|\.editorconfig$|\.clang-(format|tidy)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# An include is written from one of these.
FOLDERS = ("", "src/", "include/")


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
    folder: str
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
    def __init__(self, text: str, root: Path = ROOT):
        self.targets: dict[str, Target] = {}
        self.tests: list[Test] = []
        for line in text.splitlines():
            kind, name, *fields = line.split("|")
            if kind == "target":
                sort, folder, links, files = fields
                self.targets[name] = Target(name, sort == "library", folder, words(links), words(files))
            else:
                self.tests.append(Test(name, fields[0], *map(words, fields[1:])))
        self.listed: dict[str, set[str]] = {}
        for target in self.targets.values():
            for file in target.files:
                self.listed.setdefault(file, set()).add(target.name)
        self.libraries = {name for name, target in self.targets.items() if target.is_library}
        self._root = root
        self._includers: dict[str, set[str]] = {}
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

    def touches(self, test: Test, changed: set[str]) -> bool:
        about = set().union(*(self.closure(LIBRARY + library) for library in test.about))
        through = {LIBRARY + library for library in test.through}
        means = set().union(*(self.closure(target) for target in test.targets)) - self.libraries
        return "." in test.files or bool((about | through | means) & changed)

    def choose(self, files: Iterable[str]) -> Choice:
        files = {file for file in files if file}
        if not files:
            return Choice([])
        changed: set[str] = set()
        named: set[str] = set()
        for file in sorted(files):
            if file in EVERYTHING:
                return Choice(self.tests, file)
            targets, tests = self.targets_of(file), self.tests_of(file)
            if not targets and not tests and not DOCUMENTATION.match(file):
                return Choice(self.tests, f"{file}, which belongs to no target and no test")
            changed |= targets
            named |= tests
        return Choice([test for test in self.tests if test.name in named or self.touches(test, changed)])

    def targets_of(self, file: str) -> set[str]:
        if Path(file).name == "CMakeLists.txt":
            folder = str(Path(file).parent)
            return {target.name for target in self.targets.values() if target.folder == folder}
        files = self.including(file) if file.endswith(".h") else {file}
        return set().union(*(self.listed.get(one, set()) for one in files))

    def tests_of(self, file: str) -> set[str]:
        makes = str(Path(file).parent) if Path(file).name == "CMakeLists.txt" else None
        return {test.name for test in self.tests if file in test.files or test.folder == makes}

    def including(self, header: str) -> set[str]:
        """The header, and the files that include it, be it through another header. Where one library includes another,
        its links already say whom a change touches: its own includers do not count."""
        if not self._includers:
            self._read_includes()
        found: set[str] = set()
        waiting = [header]
        while waiting:
            file = waiting.pop()
            if file not in found:
                found.add(file)
                waiting += [one for one in self._includers.get(file, ()) if not self._of_other_libraries(file, one)]
        return found

    def _of_other_libraries(self, file: str, includer: str) -> bool:
        ours = self.listed.get(file, set()) & self.libraries
        others = self.listed[includer] & self.libraries
        return bool(ours) and bool(others) and not ours & others

    def _read_includes(self) -> None:
        for file in self.listed:
            path = self._root / file
            if not file.endswith((".cc", ".h")) or not path.is_file():
                continue
            for name in INCLUDE.findall(path.read_text()):
                for folder in FOLDERS:
                    self._includers.setdefault(folder + name, set()).add(file)


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    choice = Map(Path(sys.argv[1]).read_text()).choose(line.strip() for line in sys.stdin)
    if choice.everything:
        print(f"all {choice.everything}")
        return 0
    print(" ".join(sorted({target for test in choice.tests for target in test.targets})))
    print("^(" + "|".join(f"of-{test.name}" for test in choice.tests) + ")$" if choice.tests else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
