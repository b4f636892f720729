"""The include arrows: which folder may name which.

A quoted include is written from src/ (`#include "task/state.h"`), from include/ (`"recourse/..."`),
or, inside sim/, bench/, tests/ and examples/, from the root of the repository.
"""

import re
from typing import Iterator

from tidy_source import Finding, Include, Source

_DOOR = "engine store policy sql sql/sqlite sql/postgres sql/mysql"

# Folder of src/ -> the folders it points to. Arrows are transitive: runner reaches task through
# engine and store. A folder with a slash is a unit of its own; every other subfolder belongs to
# its top folder.
ARROWS = {
    "base": "",
    "task": "base",
    "timing": "base",
    "http": "base",
    "sql": "base",
    "sql/sqlite": "sql",
    "sql/postgres": "sql",
    "sql/mysql": "sql",
    "policy": "task",
    "store": "task",
    "store/contract": "store",
    "store/memory": "store",
    "store/relational": "store sql",
    "store/sqlite": "store/relational sql/sqlite",
    "store/postgres": "store/relational sql/postgres",
    "store/mysql": "store/relational sql/mysql",
    "engine/core": "policy timing store",
    "engine": "engine/core policy timing store",
    # What an embedding program links: an engine with the store its URL names.
    "embed": "engine create degrade guard message notify store/memory store/sqlite store/postgres store/mysql",
    "runner": "engine http",
    "degrade": _DOOR,
    "message": _DOOR,
    # One per broker: none may name another.
    "message/rabbitmq": "message",
    "message/kafka": "message",
    "message/redis": "message",
    "guard": _DOOR,
    "create": _DOOR,
    "notify": "policy store",
    "notify/channels": "notify http",
    "api": "http engine degrade message guard create notify store",
    "cli": "http",
    "app": "embed cli api degrade message guard create notify/channels runner engine "
    "store/memory store/sqlite store/postgres store/mysql",
}

# Here a subfolder is a database. One that the table does not name is a typo or a new backend, and
# neither may pass as part of the folder above it.
FOLDERS_OF_DATABASES = ("sql", "store")

# A folder may include its own subfolders, except store: its backends point to it.
NO_WAY_DOWN = ("store",)

# Beside src/. They may include all of src/ but app, and themselves, but not each other.
OUTSIDE = ("sim", "bench", "tests", "examples")
# But for these: the server that users run is put together in app, and is tested as a whole.
TESTS_OF_THE_WHOLE = "tests"
# And for this: benchmarks fill tables and start the program as tests do.
SHARED_WITH_BENCH = "tests/support/"

# Test support inside src/, open to unit tests and to OUTSIDE only.
TEST_SUPPORT = "store/contract"

# The one public header that may show a library of others to its reader.
PUBLIC_EXCEPTIONS = {("include/recourse/json.h", "nlohmann/json.hpp")}
STANDARD_HEADER = re.compile(r"[a-z_0-9]+")


def _closure() -> dict[str, set[str]]:
    reach: dict[str, set[str]] = {}

    def visit(folder: str) -> set[str]:
        if folder not in reach:
            direct = ARROWS[folder].split()
            reach[folder] = {folder, "base"}.union(direct, *map(visit, direct))
        return reach[folder]

    for folder in ARROWS:
        visit(folder)
    return reach


REACH = _closure()


def check(source: Source, has_public_headers: bool) -> Iterator[Finding]:
    if source.path.startswith("src/") and source.is_cpp and unit_of(source.path[4:]) is None:
        yield source.error(1, "this folder is not in the design; add it to ARROWS in "
                              "tools/tidy_includes.py or move the file")
        return
    for include in source.includes:
        problem = _problem(source.path, include, has_public_headers)
        if problem:
            yield source.error(include.line, problem)


def unit_of(path: str) -> str | None:
    """The row of ARROWS a path relative to src/ belongs to; None when there is none."""
    folders = path.split("/")[:-1]
    pair = "/".join(folders[:2])
    if pair in ARROWS:
        return pair
    if not folders or folders[0] not in ARROWS or folders[0] in FOLDERS_OF_DATABASES:
        return None
    return folders[0]


def _problem(path: str, include: Include, has_public_headers: bool) -> str | None:
    top = path.partition("/")[0]
    if top == "include":
        return _problem_in_public_header(path, include)
    if top != "src" and top not in OUTSIDE:
        return None
    target = include.target
    folder = target.partition("/")[0]
    if folder == "recourse":
        return None
    if not include.quoted:
        ours = "/" in target and (folder in ARROWS or folder in OUTSIDE)
        return f'write #include "{target}": <> is for headers of others' if ours else None
    if "/" not in target or ".." in target.split("/") or folder == ".":
        return f'"{target}" does not name its folder; write the path from src/'
    if top == "examples" and has_public_headers and folder != "examples":
        return f'an example shows the public library; include "recourse/..." instead of "{target}"'
    if folder in OUTSIDE:
        is_shared = top == "bench" and target.startswith(SHARED_WITH_BENCH)
        return None if folder == top or is_shared else f"only {folder}/ may include {target}; share it through src/"
    return _against_arrow(path, target)


def _problem_in_public_header(path: str, include: Include) -> str | None:
    target = include.target
    if target.startswith("recourse/") or (path, target) in PUBLIC_EXCEPTIONS:
        return None
    if not include.quoted and STANDARD_HEADER.fullmatch(target):
        return None
    return f"a public header may include only C++ standard headers and recourse/..., not {target}"


def _against_arrow(path: str, target: str) -> str | None:
    unit = unit_of(target)
    if unit is None:
        return (f'"{target}" names no folder of src/; correct the typo, put another library\'s header '
                "in <>, or add a new folder to ARROWS in tools/tidy_includes.py")
    top = path.partition("/")[0]
    own = unit_of(path[4:]) if top == "src" else None
    if unit == TEST_SUPPORT:
        allowed = own in (None, TEST_SUPPORT) or path.endswith("_test.cc")
        return None if allowed else f"{TEST_SUPPORT} is test support; include it from *_test.cc only"
    if own is None:
        allowed = unit != "app" or top == TESTS_OF_THE_WHOLE
        return None if allowed else f"nothing points to app; move what {top}/ needs out of app/"
    if unit in REACH[own] or (unit.startswith(own + "/") and own not in NO_WAY_DOWN):
        return None
    reach = ", ".join(sorted(REACH[own] - {own, TEST_SUPPORT})) or "nothing"
    return (f"{own} may not include {target}: its arrows reach {reach}; "
            "hand the value in from above or move the code")
