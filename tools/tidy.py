#!/usr/bin/env python3
"""Checks what no compiler checks: include arrows, pure folders, sizes, source lists, stray paths.

There is no way to silence a finding: a rule that is wrong is changed here, with its test.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

sys.dont_write_bytecode = True  # the tree looks the same after a run as before it

import tidy_includes
import tidy_pure
from tidy_functions import functions_of
from tidy_source import ERROR, WARNING, Finding, Source

SKIPPED_FOLDERS = {"build", ".git", "node_modules", "__pycache__"}

FILE_LINES = (350, 600)  # a warning above the first, an error above the second
FUNCTION_LINES = (40, 70)
SIZED = (".h", ".cc", ".ts", ".tsx", ".py", ".sh")

# Spellings of C++ that no rule here would look at.
OTHER_CPP = (".cpp", ".cxx", ".c++", ".C", ".c", ".hpp", ".hxx", ".hh", ".ipp", ".inl", ".tcc")

LISTED_IN_CMAKE = ("src/", "bench/", "sim/", "tests/", "examples/", "include/")

# A path that exists on one computer only, and the hosts a build would fetch from behind our back.
BEGINS_A_PATH = r"(?:(?<=-[IL]/)|(?<![\w.}$~*-]/)(?<!://))"
MACHINE = re.compile(
    "/(?:" + BEGINS_A_PATH + r"(?:(?:work|root)/|home/\w|Users/\w|tmp/(?:bash_jobs|tmp[.\w]{6}))[^\s\"'`)]*"
    r"|(?<=\.\./)shared(?!\w)|\.library(?!\w))"
)
REGISTRY = re.compile(
    r"(?:deb\.debian\.org|registry\.npmjs\.org|pypi\.org|files\.pythonhosted\.org"
    r"|(?:index|static)\.crates\.io|crates\.io-index|proxy\.golang\.org|repo1\.maven\.org)\b"
)

# In pieces, since this file is checked too.
REMINDERS = ("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK")
UNNUMBERED = re.compile(rf"\b({'|'.join(REMINDERS)})\b(?!\(#\d+\))")
SOURCE_CODE = SIZED + (".js", ".mjs", ".css", ".html", ".sql", ".cmake", ".yml", ".yaml")
SOURCE_CODE_NAMES = ("dev", "CMakeLists.txt", "Dockerfile")


def list_files(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        git = subprocess.run(command, cwd=root, capture_output=True, check=True)
        listed = sorted(set(os.fsdecode(git.stdout).split("\0")) - {""})
    except (OSError, subprocess.CalledProcessError):
        listed = []
    return listed or sorted(walk(root))


def walk(root: Path) -> Iterator[str]:
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = set(subfolders) - SKIPPED_FOLDERS
        for name in files:
            yield (Path(folder) / name).relative_to(root).as_posix()


def read_sources(root: Path) -> Iterator[Source]:
    """Text only. A file that git knows but that is gone, a link and a submodule are passed over."""
    for path in list_files(root):
        file = root / path
        if file.is_symlink() or not file.is_file():
            continue
        content = file.read_bytes()
        if b"\0" in content:
            continue
        try:
            yield Source(path, content.decode())
        except UnicodeDecodeError:
            continue


def check_size(source: Source) -> Iterator[Finding]:
    if not source.path.endswith(SIZED) and source.path != "dev":
        return
    severity = over(source.line_count, FILE_LINES)
    if severity:
        yield Finding(source.path, 1, severity,
                      f"file of {source.line_count} lines (at most {FILE_LINES[1]}, "
                      f"better {FILE_LINES[0]}); split it by idea")
    try:
        for function in functions_of(source):
            severity = over(function.lines, FUNCTION_LINES)
            if severity:
                yield Finding(source.path, function.first, severity,
                              f"`{function.name}` has {function.lines} lines (at most {FUNCTION_LINES[1]}, "
                              f"better {FUNCTION_LINES[0]}); name its parts")
    except SyntaxError as problem:
        yield source.error(problem.lineno or 1, f"this Python does not parse: {problem.msg}")


def over(lines: int, limits: tuple[int, int]) -> str | None:
    return ERROR if lines > limits[1] else WARNING if lines > limits[0] else None


def check_text(source: Source) -> Iterator[Finding]:
    if source.name.startswith("LICENSE"):
        return
    for match in MACHINE.finditer(source.text):
        yield source.error(source.line_at(match.start()),
                           f"`{match[0]}` exists on one machine only; use a path relative to the repository")
    for match in REGISTRY.finditer(source.text):
        yield source.error(source.line_at(match.start()),
                           f"`{match[0]}` is a package registry; leave the host to the user's configuration")
    is_code = source.path.endswith(SOURCE_CODE) or source.name in SOURCE_CODE_NAMES
    if is_code and any(word in source.text for word in REMINDERS):
        for match in UNNUMBERED.finditer(source.text):
            yield source.error(source.line_at(match.start()),
                               f"{match[1]} without an issue; do it now or write {match[1]}(#12)")


CMAKE_COMMENT = re.compile(r'#\[(=*)\[.*?\]\1\]|#[^\n]*|("(?:\\.|[^"\\])*")', re.DOTALL)
GLOB = re.compile(r"\bfile\s*\(\s*GLOB(?:_RECURSE)?\b|\baux_source_directory\b", re.IGNORECASE)


def without_cmake_comments(text: str) -> str:
    """Lines stay where they were."""
    return CMAKE_COMMENT.sub(lambda match: match[2] or "\n" * match[0].count("\n"), text)


def check_globs(source: Source) -> Iterator[Finding]:
    if source.name == "CMakeLists.txt" or source.path.endswith(".cmake"):
        code = without_cmake_comments(source.text)
        for match in GLOB.finditer(code):
            yield source.error(code.count("\n", 0, match.start()) + 1,
                               "a glob misses files added later; list the sources by hand")


def check_source_lists(sources: list[Source]) -> Iterator[Finding]:
    """Every C++ file is a word of the CMakeLists.txt in its own folder or one above it."""
    listed: set[str] = set()
    for source in sources:
        if source.name == "CMakeLists.txt":
            code = without_cmake_comments(source.text).replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
            folder = source.path.removesuffix(source.name)
            listed.update(folder + word for word in re.split(r'[\s()";]+', code))
    for source in sources:
        if source.path.startswith(LISTED_IN_CMAKE) and source.path.endswith(OTHER_CPP):
            yield source.error(1, "C++ files end in .cc and .h here; rename it")
        if source.is_cpp and source.path.startswith(LISTED_IN_CMAKE) and source.path not in listed:
            yield source.error(1, "no CMakeLists.txt lists this file; "
                                  f"name {source.name} in the one of its folder")


def check(root: Path) -> tuple[int, list[Finding]]:
    """How many files were read, and what is wrong with them, file by file."""
    sources = list(read_sources(root))
    has_public_headers = any(source.path.startswith("include/recourse/") for source in sources)
    findings = list(check_source_lists(sources))
    for source in sources:
        findings += tidy_includes.check(source, has_public_headers)
        for rule in (tidy_pure.check, check_size, check_globs, check_text):
            findings += rule(source)
    return len(sources), sorted(findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent,
                        help="the tree to check; this repository when absent")
    root = parser.parse_args().root
    if not root.is_dir():
        parser.error(f"{root} is not a folder")
    file_count, findings = check(root)
    for finding in findings:
        print(finding)
    errors = sum(finding.severity == ERROR for finding in findings)
    print(f"tidy: {file_count} files, {errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
