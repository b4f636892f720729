#!/usr/bin/env python3
"""Cases on the command line: listed, taken, handed over, given back and noted.

Usage: cli_case_test.py PROGRAM [unittest argument...]
"""

import json
import sys

from cli_support import CliTest, main, run, submit, wait_for


def dead_letter() -> str:
    task = submit("bad")
    wait_for(task, "dead")
    return task


def case(task: str) -> dict:
    return json.loads(run("case", "show", task, "--json").stdout)


class Cases(CliTest):
    def test_are_listed_by_who_has_them(self):
        free, mine, hers = dead_letter(), dead_letter(), dead_letter()
        self.check(run("case", "take", mine, "-q"), 0, "^$", "^$")
        self.check(run("case", "take", hers, "--for", "alice"), 0, "^$",
                   f"{hers} is with alice; nobody is reminded any more")
        self.check(run("case", "list"), 0, f"TASK.*\n(.*\n)*{free}  bad +dead.*DEAD_LETTER")
        self.check(run("case", "list", "--assignee", "alice", "-q"), 0, f"^{hers}\n$")
        self.assertIn(mine, run("case", "list", "--mine", "-q").stdout.decode())
        unassigned = run("case", "list", "--unassigned", "--all", "-q").stdout.decode().split()
        self.assertIn(free, unassigned)
        self.assertNotIn(hers, unassigned)
        self.check(run("case", "list", "--assignee", "nobody-here"), 0, "^$",
                   "nobody-here has no cases")
        self.check(run("case", "list", "--mine", "--unassigned"), 2, "^$", "--unassigned")

    def test_are_taken_until_they_are_due(self):
        task = dead_letter()
        self.check(run("case", "take", task, "--due", "2h", "--note", "asks the bank"), 0, "^$",
                   f"{task} is with local; reminders start again in 1 h")
        self.check(run("case", "take", task, "--due", "2099-01-02T03:04:05Z", "--json"), 0,
                   '"remind_at":"2099-01-02T03:04:05Z"')
        self.check(run("case", "take", task, "--due", "soon"), 2, "^$", "such as 2h")
        self.check(run("case", "take", task, "--due", "2001-01-01T00:00:00Z"), 2, "^$", "due_at is over")
        self.check(run("case", "note", task, "the bank answers tomorrow"), 0, "^$", "in its audit")
        page = run("case", "show", task)
        self.check(page, 0, rf"^{task}  bad  dead\n  with +local\n")
        for part in ["the bank answers tomorrow", "asks the bank", "hand_over", "told"]:
            self.assertIn(part, page.stdout.decode())
        self.check(run("case", "give-back", task, "--note", "on leave"), 0, "^$", "with nobody")
        self.assertIsNone(case(task)["assignee"])

    def test_many_at_once_are_done_as_far_as_possible(self):
        first, second, pending = dead_letter(), dead_letter(), submit("held")
        done = run("case", "take", first, pending, second, "--for", "bob")
        self.check(done, 7, "^$", f"(?s)recourse: {pending} is pending: it has not escalated.*2 changed, 1 not")
        self.assertEqual((case(first)["assignee"], case(second)["assignee"]), ("bob", "bob"))
        piped = run("case", "give-back", "-", "--json", stdin=f"{first}\n{second}\n".encode())
        self.check(piped, 0)
        self.assertEqual(len(json.loads(piped.stdout)["items"]), 2)
        self.check(run("case", "take", pending), 3, "^$", "has not escalated")
        self.check(run("case", "take"), 2, "^$", "ids")

    def test_say_why_there_is_none(self):
        task = dead_letter()
        self.check(run("task", "resolve", task), 0)
        self.check(run("case", "show", task), 3, "^$", "is resolved: it is finished")
        self.check(run("case", "note", task, "too late"), 3, "^$", "is resolved: it is finished")

    def test_help_begins_with_examples(self):
        for verb in ["list", "show", "take", "give-back", "note"]:
            self.check(run("case", verb, "--help"), 0, r"^[^\n]+\n\n  recourse case ")
        self.check(run("completion", "bash"), 0, "'case take'")


if __name__ == "__main__":
    sys.exit(main())
