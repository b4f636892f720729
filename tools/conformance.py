#!/usr/bin/env python3
"""Fails when docs/conformance.md names a test that no source file defines."""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parent.parent
TEST = re.compile(r"TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)|RC_GTEST_PROP\(\s*(\w+)\s*,\s*(\w+)\s*,")


def defined_tests() -> set[str]:
    tests = set()
    for folder in ("src", "tests", "sim"):
        for path in (ROOT / folder).rglob("*.cc"):
            for suite, name, prop_suite, prop_name in TEST.findall(path.read_text()):
                tests.add(f"{suite or prop_suite}.{name or prop_name}")
    return tests


def main() -> int:
    tests = defined_tests()
    rows = [line for line in (ROOT / "docs/conformance.md").read_text().splitlines()
            if re.match(r"\| [A-Z]+-\d", line)]
    missing = [(row.split("|")[1].strip(), name) for row in rows
               for name in re.findall(r"`(\w+\.\w+)`", row) if name not in tests]
    unproved = [row.split("|")[1].strip() for row in rows if "`" not in row.rsplit("|", 2)[1]]
    for number, name in missing:
        print(f"conformance: {number} names {name}, which does not exist", file=sys.stderr)
    for number in unproved:
        print(f"conformance: {number} names no test", file=sys.stderr)
    print(f"conformance: {len(rows)} promises, {len(missing) + len(unproved)} without a proof")
    return 1 if missing or unproved or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
