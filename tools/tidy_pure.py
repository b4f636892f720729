"""Hidden inputs: what a pure folder, a unit test and everything outside app/ may not touch.

Works on code whose comments and strings are blank, so a clock may be talked about everywhere.
"""

import re
from typing import Iterator

from tidy_source import Finding, Source

PURE_FOLDERS = ("src/task/", "src/policy/", "src/timing/", "src/engine/core/")


class Ban:
    """`names` are whole words. `name*` is a prefix; `name(` is a call of a C function, bare or in std,
    and neither a member nor another namespace's function; behind the bracket its argument may begin."""

    def __init__(self, what: str, instead: str, names: str):
        self.what = what
        self.instead = instead
        self._names = names.split()
        self._pattern = re.compile("|".join(map(_pattern_of, self._names)))

    def uses_in(self, code: str) -> Iterator[re.Match]:
        # Most files have none of the words, and looking for a word is far cheaper than the pattern.
        if any(name.rstrip("*(") in code for name in self._names):
            yield from self._pattern.finditer(code)


def _pattern_of(name: str) -> str:
    function, call, argument = name.partition("(")
    if call:
        qualified = "" if "::" in name else "(?:std::|::)?"
        return rf"(?<![\w.>:]){qualified}{function}\s*\({argument}"
    return rf"\b{name[:-1]}\w*" if name.endswith("*") else rf"\b{name}\b"


CLOCK = Ban("reads a clock", "take `now` as an argument", """
    SystemClock system_clock steady_clock high_resolution_clock file_clock utc_clock tai_clock gps_clock
    clock_gettime gettimeofday timespec_get localtime* mktime
    std::time( ::time( time(nullptr time(NULL time(0 time(& std::clock( ::clock(
""")
OUR_CLOCK = Ban("holds a clock", "take `now` as an argument", """
    Clock SteadyTime UlidSource
""")
CHANCE = Ban("draws from a random device", "take an `Rng&`", """
    random_device rand( srand( getrandom( getentropy(
""")
SLEEP = Ban("sleeps", "wait for a signal, or move a manual clock", """
    sleep_for sleep_until usleep nanosleep clock_nanosleep sleep(
""")
THREAD = Ban("uses a thread or a lock", "leave that to the shell that calls this", """
    std::thread std::jthread std::async std::future std::shared_future std::promise std::packaged_task
    std::mutex std::timed_mutex std::recursive_mutex std::recursive_timed_mutex
    std::shared_mutex std::shared_timed_mutex std::lock_guard std::unique_lock std::scoped_lock
    std::shared_lock std::call_once std::latch std::barrier std::counting_semaphore
    std::binary_semaphore std::atomic* condition_variable* pthread_*
    Mutex MutexLock ConditionVariable
""")
ENVIRONMENT = Ban("reads the environment", "read it in src/app/ and pass the value", """
    getenv secure_getenv setenv unsetenv putenv environ
""")
IO = Ban("does I/O", "return the value and let the caller write it", """
    std::cout std::cerr std::clog std::cin std::fstream std::ifstream std::ofstream fmt::print*
    printf( fprintf( dprintf( vprintf( vfprintf( vdprintf( puts( fputs( putchar( fputc(
    fopen( fread( fwrite( scanf( fscanf(
""")

PURE_BANS = (CLOCK, OUR_CLOCK, CHANCE, SLEEP, THREAD, ENVIRONMENT, IO)
UNIT_TEST_BANS = (CLOCK, SLEEP)

PURE_INCLUDES = re.compile(
    r"thread|mutex|shared_mutex|condition_variable|future|atomic|semaphore|latch|barrier|pthread\.h"
    r"|iostream|fstream|filesystem|unistd\.h|fcntl\.h|netdb\.h|sys/.*"
    r"|base/(?:\w*(?:clock|mutex|thread)\w*|log|ulid_source)\.h"
)


def check(source: Source) -> Iterator[Finding]:
    if not source.is_cpp or not source.path.startswith("src/"):
        return
    pure = source.path.startswith(PURE_FOLDERS)
    where = "a pure folder" if pure else "a unit test" if source.path.endswith("_test.cc") else "src/"
    seen = set()
    for ban in _bans(source.path, pure):
        for match in ban.uses_in(source.code):
            line = source.line_at(match.start())
            # `std::mutex` and `std::lock_guard` in one line are one mistake.
            if (line, ban) not in seen:
                seen.add((line, ban))
                name = match[0].rstrip("( ")
                yield source.error(line, f"`{name}` {ban.what} in {where}; {ban.instead}")
    if pure:
        for include in source.includes:
            if PURE_INCLUDES.fullmatch(include.target):
                yield source.error(include.line, f"{include.target} brings a clock, thread, lock or I/O into "
                                                 "a pure folder; leave it to the shell that calls this")


def _bans(path: str, pure: bool) -> tuple[Ban, ...]:
    if pure:
        return PURE_BANS
    tests = UNIT_TEST_BANS if path.endswith("_test.cc") else ()
    return tests if path.startswith("src/app/") else (*tests, ENVIRONMENT)
