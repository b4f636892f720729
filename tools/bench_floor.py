#!/usr/bin/env python3
"""Compares what benchmarks have measured with the floor: the ratios that they must keep.

    python3 tools/bench_floor.py RESULTS [--ran NAME...]
    python3 tools/bench_floor.py RESULTS --write

RESULTS has what benchmarks print with --json, one object a line. Each benchmark measures itself beside something
else in the same run; bench/floor.json holds those ratios. A figure below 0.9 of its floor fails, and so does one that
its benchmark does not print any more: a benchmark has run when RESULTS has something of it, or when --ran names it.
--write takes the ratios of this run for the floor; what the run did not measure keeps its floor.
"""

import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

FLOOR = Path(__file__).resolve().parent.parent / "bench/floor.json"
KEPT = 0.9

Ratios = dict[str, dict[str, float]]


def ratios_of(lines: list[str]) -> Ratios:
    found: Ratios = {}
    for line in lines:
        if line.startswith("{"):
            figure = json.loads(line)
            cases = found.setdefault(figure["bench"], {})
            if "ratio" in figure:
                cases[figure["case"]] = round(figure["ratio"], 2)
    return found


def compare(floor: Ratios, run: Ratios) -> tuple[list[str], bool]:
    """A line for each figure of the benchmarks that ran, and whether all keep their floor."""
    lines = []
    is_kept = True
    for bench in sorted(run):
        for case, wanted in sorted(floor.get(bench, {}).items()):
            ratio = run[bench].get(case)
            falls_short = ratio is None or round(ratio, 2) < round(KEPT * wanted, 2)
            is_kept = is_kept and not falls_short
            measured = "not measured" if ratio is None else f"{ratio:.2f}"
            lines.append(f"{bench:<8} {case:<44} {measured:>12}, floor {wanted:.2f}"
                         f"{': FALLS SHORT' if falls_short else ''}")
        for case in sorted(set(run[bench]) - set(floor.get(bench, {}))):
            lines.append(f"{bench:<8} {case:<44} {run[bench][case]:>12.2f}, has no floor yet")
    return lines, is_kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--ran", nargs="*", default=[], metavar="NAME", help="benchmarks that ran")
    parser.add_argument("--write", action="store_true", help="take this run's ratios for the floor")
    parser.add_argument("--floor", type=Path, default=FLOOR)
    arguments = parser.parse_args()
    if not arguments.results.exists():
        print(f"bench: there is no {arguments.results}: run ./dev bench --check first", file=sys.stderr)
        return 1
    run = ratios_of(arguments.results.read_text().splitlines())
    has_floor = arguments.floor.exists()
    floor = json.loads(arguments.floor.read_text()) if has_floor else {}
    if not any(run.values()):
        print("bench: nothing was measured", file=sys.stderr)
        return 1
    if arguments.write:
        for bench, cases in run.items():
            floor.setdefault(bench, {}).update(cases)
        arguments.floor.write_text(json.dumps(floor, indent=2, sort_keys=True) + "\n")
        print(f"bench: {sum(map(len, run.values()))} ratios written")
        return 0
    if not has_floor:
        print(f"bench: there is no floor to compare with; this run becomes it by\n"
              f"    python3 tools/bench_floor.py {arguments.results} --write", file=sys.stderr)
        return 1
    lines, is_kept = compare(floor, {name: {} for name in arguments.ran} | run)
    print("\n".join(lines))
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
