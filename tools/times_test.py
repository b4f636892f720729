#!/usr/bin/env python3
"""What tools/times.py makes of what ctest wrote."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

TOOL = Path(__file__).resolve().parent / "times.py"


def test(name: str, *labels: str) -> dict:
    return {"name": name, "properties": [{"name": "LABELS", "value": list(labels)}] if labels else []}


class Times(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "parts").write_text("61.2\tpackages\n300.04\tbuild release\n")

    def write(self, preset: str, tests: list[dict], times: dict[str, float]):
        (self.folder / f"{preset}.json").write_text(json.dumps({"tests": tests}))
        cases = "".join(f'<testcase name="{name}" time="{time}" status="run"/>' for name, time in times.items())
        (self.folder / f"{preset}.xml").write_text(f"<testsuite>{cases}</testsuite>")

    def lines(self) -> list[str]:
        return subprocess.run([sys.executable, TOOL, self.folder], capture_output=True, text=True,
                              check=True).stdout.splitlines()

    def test_parts_stand_in_the_order_in_which_they_ran(self):
        self.assertEqual(self.lines(), ["    61.2 s  packages", "   300.0 s  build release"])

    def test_tests_are_summed_by_preset_and_group(self):
        self.write("release", [test("a", "of-a", "server", "broker"), test("b", "of-b", "unit"), test("c")],
                   {"a": 4.0, "b": 1.5, "c": 0.25})
        self.write("asan", [test("b", "unit")], {"b": 3.0})

        lines = self.lines()

        self.assertIn("     3.0 s  asan unit: 1 test", lines)
        self.assertIn("     4.0 s  release broker: 1 test", lines)
        self.assertIn("     0.2 s  release other: 1 test", lines)

    def test_the_ten_slowest_are_named(self):
        times = {f"t{number}": float(number) for number in range(20)}
        self.write("release", [test(name, "unit") for name in times], times)

        lines = self.lines()

        self.assertEqual(lines[lines.index("the slowest tests:") + 1], "    19.0 s  t19 (release)")
        self.assertEqual(len(lines[lines.index("the slowest tests:") + 1:]), 10)


if __name__ == "__main__":
    unittest.main()
