#!/usr/bin/env python3
"""Prints where the time of a `./dev test` or `./dev check` went.

    python3 tools/times.py build/times

In that folder `parts` has a line for each part that ran: its seconds, a tab, its name. Beside it lie what ctest
wrote of a preset: PRESET.xml (--output-junit) and PRESET.json (--show-only=json-v1), which knows the labels.
"""

import dataclasses
import json
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True

SLOWEST = 10
# A test's group is the first of these labels that it has.
GROUPS = ("broker", "docs", "examples", "tools", "sim", "contract", "unit", "unit-threaded", "program", "server", "measured")


@dataclasses.dataclass
class Case:
    name: str
    preset: str
    seconds: float
    group: str


def cases_of(folder: Path, preset: str) -> list[Case]:
    groups = {}
    for test in json.loads((folder / f"{preset}.json").read_text())["tests"]:
        labels = next((one["value"] for one in test.get("properties", []) if one["name"] == "LABELS"), [])
        groups[test["name"]] = next((group for group in GROUPS if group in labels), "other")
    suite = ElementTree.parse(folder / f"{preset}.xml").getroot()
    return [Case(one.get("name", ""), preset, float(one.get("time", 0)), groups.get(one.get("name", ""), "other"))
            for one in suite.iter("testcase") if one.get("status") != "disabled"]


def table(parts: list[tuple[float, str]], cases: list[Case]) -> list[str]:
    lines = [f"{seconds:8.1f} s  {name}" for seconds, name in parts]
    if not cases:
        return lines
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in cases:
        sums[case.preset, case.group].append(case.seconds)
    lines.append("tests by group; many run side by side:")
    for (preset, group), times in sorted(sums.items(), key=lambda item: (item[0][0], -sum(item[1]))):
        lines.append(f"{sum(times):8.1f} s  {preset} {group}: {len(times)} test{'s' if len(times) > 1 else ''}")
    lines.append("the slowest tests:")
    for case in sorted(cases, key=lambda case: -case.seconds)[:SLOWEST]:
        lines.append(f"{case.seconds:8.1f} s  {case.name} ({case.preset})")
    return lines


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    parts = []
    for line in (folder / "parts").read_text().splitlines():
        seconds, name = line.split("\t")
        parts.append((float(seconds), name))
    cases = [case for results in sorted(folder.glob("*.xml")) for case in cases_of(folder, results.stem)]
    print("\n".join(table(parts, cases)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
