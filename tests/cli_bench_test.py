#!/usr/bin/env python3
"""recourse bench: measures a server, and leaves nothing to do behind.

Usage: cli_bench_test.py PROGRAM [unittest argument...]
"""

import json
import sys

from cli_support import CliTest, main, run


class Bench(CliTest):
    def states(self) -> dict[str, int]:
        stats = json.loads(run("stats", "--json").stdout)
        return {state: count for state, count in stats["states"].items() if count}

    def test_measures_and_finishes_all_it_submitted(self):
        # What an earlier run left, cut short.
        run("task", "submit", "recourse-bench")
        done = run("bench", "--tasks", "200", "--connections", "4", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        items = {item["name"]: item for item in json.loads(done.stdout)["items"]}
        self.assertEqual(list(items), ["round_trip", "submit", "submit_lot", "lease", "complete", "pick_up", "page"])
        self.assertEqual([items[name]["calls"] for name in ("submit", "submit_lot", "lease", "complete")],
                         [200, 2, 4, 400])
        for item in items.values():
            self.assertGreater(item["median_ms"], 0)
            self.assertGreaterEqual(item["p99_ms"], item["median_ms"])
        self.assertEqual(self.states(), {"succeeded": 1 + 400 + 50})

    def test_says_what_is_wrong(self):
        self.check(run("bench", "--tasks", "7"), 2, err="--tasks")
        self.check(run("bench", server="http://127.0.0.1:1"), 6, err="no server answers")


if __name__ == "__main__":
    sys.exit(main())
