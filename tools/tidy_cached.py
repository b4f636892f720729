#!/usr/bin/env python3
"""Runs clang-tidy on one source, unless the same content was found clean before.

    python3 tools/tidy_cached.py build/tidy SOURCE

What was found clean is remembered beside the compiler's cache, by a hash of all that decides: the source, the files
of the project that it includes, how it is compiled, the rules, this script with the arguments it gives to clang-tidy,
and the programs and system headers as Debian's package versions name them. Every clone finds it there. A source
without a compile command is always read: clang-tidy guesses how it is compiled.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FOLDERS = ("", "src", "include")
TOOL = "clang-tidy-16"
HEADER_FILTER = r"(src|bench|sim|tests|include)/.*\.(h|cc)$"
# Debian's packages with headers, and those of clang.
PACKAGE = re.compile(r"(\S+-dev|clang-\S+|libclang\S*|libllvm\S*) ")


def cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "recourse-tidy"


def included(source: Path) -> list[Path]:
    """The source and all files of the project that it includes; others come with a package."""
    seen: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen[file] = None
        for name in INCLUDE.findall(file.read_text()):
            places = [file.parent / name, *(ROOT / folder / name for folder in FOLDERS)]
            found = next((place.resolve() for place in places if place.is_file()), None)
            if found:
                waiting.append(found)
    return sorted(seen)


def commands_of(build: Path, source: Path) -> list[str]:
    """One for each target that compiles the source; clang-tidy reads it as often."""
    commands = json.loads((build / "compile_commands.json").read_text())
    return [one["command"].replace(str(ROOT), "") for one in commands if Path(one["file"]).resolve() == source]


def packages() -> str:
    names = subprocess.run(["dpkg-query", "-W", "-f=${Package} ${Version}\n"], capture_output=True, text=True,
                           check=True).stdout
    return "\n".join(line for line in names.splitlines() if PACKAGE.match(line))


def key(source: Path, commands: list[str]) -> str:
    digest = hashlib.sha256()
    for text in (*commands, packages(), (ROOT / ".clang-tidy").read_text(), Path(__file__).read_text()):
        digest.update(text.encode() + b"\0")
    for file in included(source):
        name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        digest.update(str(name).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def is_clean(build: Path, source: Path) -> bool:
    ran = subprocess.run([TOOL, "-p", build, "--quiet", f"--header-filter={HEADER_FILTER}", source],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(ran.stdout)
    if ran.returncode:
        # Otherwise it only counts what it suppressed in system headers.
        kept = [line for line in ran.stderr.splitlines() if not re.search(r"warnings? (generated|treated)", line)]
        print("\n".join(kept), file=sys.stderr)
    return ran.returncode == 0


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, source = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    commands = commands_of(build, source)
    mark = cache() / key(source, commands) if commands else None
    if mark and mark.exists():
        return 0
    if not is_clean(build, source):
        return 1
    if mark:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
