#!/usr/bin/env python3
"""Side effects that failed, on the command line: recorded, found, retried, cleaned up.

Usage: cli_degrade_test.py PROGRAM [unittest argument...]
"""

import json
import sys
import time

from cli_support import PATIENCE, CliTest, main, run


def record(kind: str, *flags: str) -> str:
    return run("degrade", "record", kind, "--payload", "{}", *flags).stdout.decode().strip()


def shown(failure: str) -> dict:
    return json.loads(run("degrade", "show", failure, "--json").stdout)


def wait_until(failure: str, status: str):
    until = time.monotonic() + PATIENCE
    while shown(failure)["status"] != status:
        if time.monotonic() > until:
            raise AssertionError(f"{failure} is {shown(failure)}, not {status}")
        time.sleep(0.05)


class Degrade(CliTest):
    def test_a_failure_is_recorded_and_made_good(self):
        failure = record("points", "--member", "m-1", "--related-id", "o-1", "--type", "EARN",
                         "--amount", "100", "--remark", "thanks", "--reason", "it is down")
        wait_until(failure, "COMPLETED")
        page = run("degrade", "show", failure)
        self.check(page, 0, rf"^{failure}  points  COMPLETED\n")
        for part in ["m-1", "o-1", "EARN", "100", "thanks", "it is down", "1 of 3"]:
            self.assertIn(part, page.stdout.decode())
        self.check(run("degrade", "list", "--member", "m-1"), 0, rf"ID +KIND.*\n{failure}  points +COMPLETED")
        self.check(run("degrade", "list", "--member", "m-1", "--status", "FAILED"), 0, "^$", "No such failures")
        self.check(run("degrade", "retry", failure), 4, "^$", "COMPLETED")
        self.check(run("degrade", "record", "held"), 2, "^$", "must be a degrade kind")

    def test_what_failed_is_retried_by_hand(self):
        failures = [record("lost-points", "--member", "m-2") for _ in range(3)]
        for failure in failures:
            wait_until(failure, "FAILED")
        self.check(run("degrade", "retry", failures[0]), 0, "^$", f"{failures[0]} is retried")
        wait_until(failures[0], "FAILED")
        self.assertEqual(shown(failures[0])["retries"], 1, "those of this episode")
        self.check(run("degrade", "retry-many", "--member", "m-2", "--dry-run"), 0, "^$",
                   "3 FAILED records; nothing was done")
        self.check(run("degrade", "retry-many", "--member", "m-2"), 2, "^$", "--yes")
        self.check(run("degrade", "retry-many", "--member", "m-2", "--limit", "2", "--yes"), 0, "^$",
                   "2 retried")
        self.check(run("degrade", "retry-many", "--status", "COMPLETED", "--yes"), 2, "^$", "nothing left")
        nobody = run("degrade", "retry-many", "--member", "nobody", "--yes", "--json")
        self.check(nobody, 0, '"dry_run": ?false')
        self.check(run("degrade", "list", "--status", "failed", "--member", "m-2"), 0, "FAILED")

    def test_they_are_summed_up_and_cleaned_up(self):
        failed, completed = record("lost-points"), record("points")
        wait_until(failed, "FAILED")
        wait_until(completed, "COMPLETED")
        self.check(run("degrade", "summary"), 0, r"(?s)PENDING +\d.*FAILED +\d.*Newest that failed\n")
        self.check(run("degrade", "summary"), 0, r"spool +0 bytes wait for the store")
        self.check(run("degrade", "clean", "--older-than", "1d"), 2, "^$", "--yes")
        self.check(run("degrade", "clean", "--older-than", "1d", "--yes"), 0, "^$", "^0 records deleted")
        self.check(run("degrade", "clean", "--older-than", "0s", "--yes"), 0, "^$", "records? deleted")
        self.check(run("degrade", "show", completed), 3, "^$", "does not exist|no")
        self.assertEqual(shown(failed)["status"], "FAILED")


if __name__ == "__main__":
    sys.exit(main())
