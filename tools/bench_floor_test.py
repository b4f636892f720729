#!/usr/bin/env python3
"""When tools/bench_floor.py says that a benchmark has become slower."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

TOOL = Path(__file__).resolve().parent / "bench_floor.py"
BENCH = TOOL.parent.parent / "bench"


class Floor(unittest.TestCase):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.floor, self.results = folder / "floor.json", folder / "results"
        self.floor.write_text('{"store": {"claim": 0.8}, "wheel": {"expire": 5.0}}')

    def measured(self, **ratios: float | None):
        lines = ["bench    case   value"]
        for case, ratio in ratios.items():
            figure = {"bench": "store", "case": case, "value": 1.0, "unit": "tasks/s"}
            lines.append(json.dumps(figure | ({} if ratio is None else {"ratio": ratio})))
        self.results.write_text("\n".join(lines))

    def run_tool(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, TOOL, self.results, "--floor", self.floor, *arguments],
                              capture_output=True, text=True, check=False)

    def test_nine_tenths_of_the_floor_are_enough(self):
        self.measured(claim=0.72)
        self.assertEqual(self.run_tool().returncode, 0)

    def test_less_falls_short(self):
        self.measured(claim=0.71)
        ran = self.run_tool()
        self.assertEqual(ran.returncode, 1)
        self.assertIn("FALLS SHORT", ran.stdout)

    def test_a_figure_that_is_gone_falls_short(self):
        self.measured(insert=1.0)
        ran = self.run_tool()
        self.assertEqual(ran.returncode, 1)
        self.assertIn("not measured", ran.stdout)

    def test_a_new_figure_is_shown(self):
        self.measured(claim=0.8, insert=1.0)
        ran = self.run_tool()
        self.assertEqual(ran.returncode, 0)
        self.assertIn("has no floor yet", ran.stdout)

    def test_a_benchmark_that_prints_no_ratio_falls_short(self):
        self.measured(claim=0.8)
        self.assertEqual(self.run_tool("--ran", "store").returncode, 0)
        ran = self.run_tool("--ran", "store", "wheel")
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stdout, "wheel +expire +not measured, floor 5.00: FALLS SHORT")

    def test_a_benchmark_without_a_floor_may_print_no_ratio(self):
        self.measured(claim=0.8)
        self.assertEqual(self.run_tool("--ran", "store", "engine").returncode, 0)

    def test_without_a_floor_it_says_how_to_write_one(self):
        self.floor.unlink()
        self.measured(claim=0.8)
        ran = self.run_tool()
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"bench_floor.py {self.results} --write", ran.stderr)

    def test_the_first_floor_is_written(self):
        self.floor.unlink()
        self.measured(claim=0.8)
        self.assertEqual(self.run_tool("--write").returncode, 0)
        self.assertEqual(json.loads(self.floor.read_text()), {"store": {"claim": 0.8}})

    def test_nothing_measured_is_no_success(self):
        self.results.write_text("")
        self.assertEqual(self.run_tool().returncode, 1)

    def test_a_run_becomes_the_floor_of_its_own_benchmarks(self):
        self.measured(claim=0.9, wait=None)
        self.assertEqual(self.run_tool("--write").returncode, 0)
        self.assertEqual(json.loads(self.floor.read_text()), {"store": {"claim": 0.9}, "wheel": {"expire": 5.0}})

    def test_the_floor_of_the_project_is_of_its_benchmarks(self):
        if not (BENCH / "floor.json").exists():
            self.skipTest("nobody has written bench/floor.json yet")
        for bench, cases in json.loads((BENCH / "floor.json").read_text()).items():
            self.assertTrue((BENCH / f"{bench}_bench.cc").exists(), bench)
            for case, ratio in cases.items():
                self.assertGreater(ratio, 0, case)


if __name__ == "__main__":
    unittest.main()
