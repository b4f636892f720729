"""Hidden inputs: what a pure folder, a unit test and everything outside app/ may not touch.

Works on code whose comments and strings are blank, so a clock may be talked about everywhere.
"""

import re
from typing import Iterator

from tidy_source import Finding, Source

PURE_FOLDERS = ("src/task/", "src/policy/", "src/timing/", "src/engine/core/")


def _call(names: str) -> str:
    """A call of a C function, bare or in std; a member or another namespace's function is not it."""
    return rf"(?<![\w.>:])(?:std::|::)?(?:{names})\s*\("


CLOCK = "reads a clock", "take `now` as an argument", "|".join((
    r"\b(?:system|steady|high_resolution|file|utc|tai|gps)_clock\b",
    r"\b(?:clock_gettime|gettimeofday|timespec_get|localtime(?:_r)?|mktime)\b",
    r"(?:(?<!\w)std|(?<![\w>:]))::(?:time|clock)\s*\(",
    r"(?<![\w.>:])time\s*\(\s*(?:nullptr|NULL|0|&)",
))
CHANCE = "draws from a random device", "take an `Rng&`", "|".join((
    r"\brandom_device\b", _call("s?rand|getrandom|getentropy"),
))
SLEEP = "sleeps", "wait for a signal, or move a manual clock", "|".join((
    r"\b(?:sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\b", _call("sleep"),
))
THREAD = "uses a thread or a lock", "leave that to the shell that calls this", "|".join((
    r"\bstd::(?:jthread|thread|this_thread(?!::sleep)|async|future|shared_future|promise|packaged_task)\b",
    r"\bstd::(?:\w+_)?mutex\b|\bstd::(?:lock_guard|unique_lock|scoped_lock|shared_lock|call_once)\b",
    r"\bstd::(?:atomic\w*|latch|barrier|\w+_semaphore)\b|\bcondition_variable|\bpthread_",
))
ENVIRONMENT = "reads the environment", "read it in src/app/ and pass the value", "|".join((
    r"\b(?:secure_)?getenv\b", r"\b(?:setenv|putenv|unsetenv)\b", r"(?<![\w.>:])(?:::)?environ\b",
))
IO = "does I/O", "return the value and let the caller write it", "|".join((
    r"\bstd::w?(?:cout|cerr|clog|cin)\b", r"\bstd::[io]?fstream\b", r"\bfmt::print(?:ln)?\b",
    _call("v?f?printf|v?dprintf|puts|fputs|putchar|fputc|fopen|fread|fwrite|f?scanf"),
))

PURE_BANS = (CLOCK, CHANCE, SLEEP, THREAD, ENVIRONMENT, IO)
UNIT_TEST_BANS = (CLOCK, SLEEP)

PURE_INCLUDES = re.compile(
    r"thread|mutex|shared_mutex|condition_variable|future|atomic|semaphore|latch|barrier|pthread\.h"
    r"|iostream|fstream|filesystem|unistd\.h|fcntl\.h|netdb\.h|sys/.*"
    r"|base/\w*(?:clock|mutex|thread)\w*\.h"
)


def check(source: Source) -> Iterator[Finding]:
    if not source.is_cpp or not source.path.startswith("src/"):
        return
    pure = source.path.startswith(PURE_FOLDERS)
    where = "a pure folder" if pure else "a unit test" if source.path.endswith("_test.cc") else "src/"
    seen = set()
    for what, instead, pattern in _bans(source.path, pure):
        for match in re.finditer(pattern, source.code):
            line = source.line_at(match.start())
            # `std::mutex` and `std::lock_guard` in one line are one mistake.
            if (line, what) not in seen:
                seen.add((line, what))
                name = match[0].rstrip("( ")
                yield source.error(line, f"`{name}` {what} in {where}; {instead}")
    if pure:
        for include in source.includes:
            if PURE_INCLUDES.fullmatch(include.target):
                yield source.error(include.line, f"{include.target} brings a clock, thread, lock or I/O into "
                                                 "a pure folder; leave it to the shell that calls this")


def _bans(path: str, pure: bool) -> tuple:
    if pure:
        return PURE_BANS
    tests = UNIT_TEST_BANS if path.endswith("_test.cc") else ()
    return tests if path.startswith("src/app/") else (*tests, ENVIRONMENT)
