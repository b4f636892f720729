#!/usr/bin/env python3
"""Tasks, kinds and dead letters on the command line: submitted, looked at and steered.

Usage: cli_task_test.py PROGRAM [unittest argument...]
"""

import json
import signal
import subprocess
import sys
import tempfile

from cli_support import (PROGRAM, SERVER, CliTest, Downstream, clean_environment, main, run, show,
                         submit, wait_for)


class Submitting(CliTest):
    def test_a_payload_arrives_byte_for_byte(self):
        for payload in [b'{"n": 1.10,  "big": 12345678901234567890123}', b"plain text\n",
                        b" [1]\n", b"\x00\xff\xfe", b"null", b'1,"kind":"held"']:
            with self.subTest(payload=payload):
                Downstream.bodies.clear()
                done = run("task", "submit", "fine", "-", stdin=payload)
                self.check(done, 0, r"^tsk_\w+\n$")
                wait_for(done.stdout.decode().strip(), "succeeded")
                self.assertEqual(Downstream.bodies, [payload])

    def test_a_payload_from_a_file_and_from_the_command_line(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b'{"a": 1}')
            file.flush()
            task = submit("held", "--payload-file", file.name)
        self.assertEqual(show(task)["task"]["payload"], '{"a": 1}')
        task = submit("held", "--payload", '{"b": 2}')
        self.assertEqual(show(task)["task"]["payload"], '{"b": 2}')
        self.check(run("task", "submit", "held", "--payload", "1", "--payload-file", "x"), 2,
                   err="not both")
        self.check(run("task", "submit", "held", "--payload-file", "/nowhere"), 2,
                   err="--payload-file")

    def test_all_options_reach_the_task(self):
        task = submit("held", "--priority", "3", "--max-retries", "2", "--timeout", "7s",
                      "--delay", "1h", "--deadline", "2099-01-01T00:00:00Z", "--unique-key", "u-1",
                      "--key", "order=1", "--key", "customer=acme")
        shown = show(task)["task"]
        self.assertEqual((shown["priority"], shown["max_retries"], shown["timeout"]), (3, 2, "7s"))
        self.assertEqual(shown["deadline"], "2099-01-01T00:00:00Z")
        self.assertEqual(shown["search_keys"], {"order": "1", "customer": "acme"})
        again = run("task", "submit", "held", "--unique-key", "u-1")
        self.check(again, 0, task, "not created")
        self.check(run("task", "submit", "held", "--id", task), 0, task, "submitted before")

    def test_what_the_server_refuses_is_shown_by_field(self):
        self.check(run("task", "submit", "held", "{}"), 2, err="--payload '{}'")
        self.check(run("task", "submit", "held", "--max-retries", "-1"), 2, err="from 0 to 1000")
        self.check(run("task", "submit", "hedl"), 0, err='warning: this server has no kind "hedl"')
        self.check(run("kind", "pause", "hedl"), 0, err='warning: this server has no kind "hedl"')
        self.check(run("task", "submit", "held", "--delay", "soon"), 2, err="^recourse: delay ")
        self.check(run("task", "submit", "held", "--key", "order"), 2, err="--key order=4711")
        self.check(run("task", "submit", "held", "--id", "7"), 2, err="^recourse: id ")


class Waiting(CliTest):
    def test_for_a_task_that_succeeds(self):
        done = run("task", "submit", "fine", "--wait")
        self.check(done, 0, r"^tsk_\w+\n$", r"^tsk_\w+ has succeeded after 1 attempt\n$")
        self.check(run("task", "submit", "fine", "--wait", "-q"), 0, r"^tsk_\w+\n$", "^$")
        task = json.loads(run("task", "submit", "fine", "--wait", "--json").stdout)
        self.assertEqual((task["kind"], task["state"]), ("fine", "succeeded"))

    def test_for_one_that_ends_badly(self):
        done = run("task", "submit", "bad", "--wait")
        self.check(done, 1, r"^tsk_\w+\n$", r"^recourse: tsk_\w+ is dead after 1 attempt: DEAD_LETTER")

    def test_not_for_ever(self):
        done = run("task", "submit", "held", "--wait", "--wait-timeout", "200ms")
        self.check(done, 7, r"^tsk_\w+\n$", "has not ended within 200ms and goes on")
        self.check(run("task", "submit", "held", "--wait", "--wait-timeout", "soon"), 2, "^$",
                   "--wait-timeout")
        self.check(run("task", "submit", "held", "--wait-timeout", "1s"), 2, "^$", "--wait")

    def test_ctrl_c_ends_it_with_the_id_in_hand(self):
        with subprocess.Popen([PROGRAM, "task", "submit", "held", "--wait", "--server", SERVER.url],
                              stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
            task = process.stdout.readline().strip()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(5), -signal.SIGINT)
        self.assertEqual(show(task)["task"]["state"], "pending")


class Looking(CliTest):
    def test_lists_by_state_kind_and_key(self):
        task = submit("held", "--key", "list=1")
        self.check(run("task", "list", "--key", "list=1"), 0, f"ID.*\n{task}  held  pending")
        self.check(run("task", "list", "--key", "list=1", "-q"), 0, f"^{task}\n$")
        self.check(run("task", "list", "--key", "list=1", "--state", "dead,failed"), 0, "^$",
                   "No such tasks")
        self.check(run("task", "list", "--kind", "fine", "--key", "list=1", "-q"), 0, "^$")
        self.check(run("task", "list", "--state", "ded"), 2, "^$",
                   r"^recourse: state .*pending, running.*\n$")

    def test_pages_until_it_has_what_was_asked_for(self):
        tasks = {submit("held", "--key", "page=1") for _ in range(3)}
        two = json.loads(run("task", "list", "--key", "page=1", "--limit", "2", "--json").stdout)
        self.assertEqual(len(two["items"]), 2)
        self.assertIsNotNone(two["next_cursor"])
        every = run("task", "list", "--key", "page=1", "--all", "-q").stdout.decode().split()
        self.assertEqual(set(every), tasks)
        self.check(run("task", "list", "--key", "page=1", "--limit", "1"), 0, err="--all")

    def test_shows_a_whole_task_on_one_page(self):
        task = submit("bad", "--key", "order=9")
        wait_for(task, "dead")
        self.check(run("task", "retry", task, "--reason", "try it"), 0, err="is retried")
        wait_for(task, "dead")
        page = run("task", "show", task)
        self.check(page, 0, rf"^{task}  bad  dead\n")
        for part in ["order=9", "DEAD_LETTER", "ATTEMPT", "try it", "episode 2"]:
            self.assertIn(part, page.stdout.decode())

    def test_shows_how_long_a_first_success_took(self):
        task = submit("fine")
        wait_for(task, "succeeded")
        self.check(run("task", "show", task), 0, r"\n +1 +\S+( \S+)* +\d+(ms|s|us) +succeed")

    def test_explains(self):
        task = submit("held")
        self.check(run("task", "explain", task), 0, f"{task} is pending: .*worker")
        self.check(run("task", "explain", task, "--json"), 0, '"code":"nobody_leases"')
        task = submit("fine")
        wait_for(task, "succeeded")
        self.check(run("task", "explain", task), 0, f"{task} has succeeded: nothing more happens")

    def test_what_is_not_there_is_exit_3(self):
        for verb in ["show", "explain", "retry", "cancel"]:
            self.check(run("task", verb, "tsk_01J0000000000000000000000A"), 3, "^$", "recourse: ")

    def test_nodes_and_stats(self):
        submit("held")
        self.check(run("node", "list"), 0, "live.*fine")
        self.check(run("stats"), 0, r"KIND +pending", "This node is live")
        self.assertGreater(json.loads(run("stats", "--json").stdout)["states"]["pending"], 0)

    def test_top_prints_once_where_nobody_watches(self):
        self.check(run("top"), 0, r"(?s)live.*KIND.*held +worker")
        self.check(run("top", "--every", "often"), 2, err="--every")


    def test_schedules(self):
        self.check(run("schedule", "list"), 0, r"leap-day +0 0 29 2 \* +held +\S.*-02-29")
        self.check(run("schedule", "list", "-q"), 0, "^leap-day\n$")
        self.check(run("schedule", "list", "--json"), 0, '"next_at":"')


class Steering(CliTest):
    def test_one_task_by_id(self):
        task = submit("held")
        for verb, state in [("pause", "paused"), ("resume", "pending"), ("cancel", "cancelled")]:
            self.check(run("task", verb, task), 0, "^$", f"{task} is {verb}")
            self.assertEqual(show(task)["task"]["state"], state)
        self.check(run("task", "cancel", task), 4, "^$", "recourse: ")

    def test_dead_letters_are_resolved_and_ignored(self):
        for verb, state in [("resolve", "resolved"), ("ignore", "ignored")]:
            task = submit("bad")
            wait_for(task, "dead")
            self.check(run("task", verb, task, "--reason", "by hand", "--json"), 0, '"effect"')
            self.assertEqual(show(task)["task"]["state"], state)

    def test_several_ids_of_which_some_are_refused(self):
        good, other = submit("held"), submit("held")
        nobody = "tsk_01J0000000000000000000000A"
        self.check(run("task", "pause", good, nobody), 7, err=rf"(?s){nobody}: .*1 paused, 1 refused")
        self.check(run("task", "pause", nobody, nobody), 3)
        self.check(run("task", "pause", "-", stdin=f"{other}\n{good}\n".encode()), 7,
                   err="1 paused, 1 refused")

    def test_many_are_counted_and_confirmed(self):
        tasks = [submit("held", "--key", "bulk=1") for _ in range(3)]
        choose = ["--key", "bulk=1", "--state", "pending"]
        self.check(run("task", "cancel", *choose, "--dry-run"), 0, "^$", "^3 pending tasks with")
        self.check(run("task", "cancel", *choose), 2, err="Nobody is here to ask: add --yes")
        self.assertEqual(show(tasks[0])["task"]["state"], "pending")
        done = run("task", "cancel", *choose, "--yes", "--reason", "test")
        self.check(done, 0, "^$", "3 cancelled")
        self.assertEqual({show(task)["task"]["state"] for task in tasks}, {"cancelled"})
        self.check(run("task", "cancel", *choose, "--yes"), 0, err="^0 pending tasks")

    def test_many_of_which_some_are_refused(self):
        submit("held", "--key", "mixed=1")
        task = submit("held", "--key", "mixed=1")
        run("task", "cancel", task)
        done = run("task", "resume", "--key", "mixed=1", "--yes", "--json")
        self.assertEqual(done.returncode, 7, done)
        self.assertGreater(json.loads(done.stdout)["refused"], 0)

    def test_a_job_is_looked_at_afterwards(self):
        submit("held", "--key", "job=1")
        job = json.loads(run("task", "pause", "--key", "job=1", "--yes", "--json", "--reason",
                             "a look").stdout)["id"]
        self.check(run("bulk", "list"), 0, rf"{job}  pause +done +1 +0 +0 .*a look")
        self.check(run("bulk", "list", "-q"), 0, f"{job}\n")
        self.check(run("bulk", "show", job), 0, rf"^{job}  pause  done\n  done +1 task\n")
        self.check(run("bulk", "show", job, "--wait", "--json"), 0, '"state":"done"')
        self.check(run("bulk", "cancel", job), 4, "^$", "the job is done already")
        self.check(run("bulk", "show", "blk_01J0000000000000000000000A"), 3, "^$", "no such bulk job")

    def test_ids_and_a_filter_do_not_go_together(self):
        self.check(run("task", "retry", "tsk_1", "--state", "dead"), 2, err="not both")
        self.check(run("task", "retry"), 2, err="nothing to retry")

    def test_dead_letters_are_listed_and_driven_again(self):
        task = submit("bad", "--key", "redrive=1")
        wait_for(task, "dead")
        self.check(run("dead", "list", "--key", "redrive=1"), 0, f"{task}  bad   dead")
        self.check(run("dead", "retry"), 2, err="--all")
        self.check(run("dead", "retry", "--key", "redrive=1", "--dry-run"), 0, err="^1 dead or failed task with")
        self.check(run("dead", "retry", "--key", "redrive=1", "--yes"), 0, err="1 retried")
        wait_for(task, "dead")
        self.assertEqual(show(task)["task"]["episode"], 2)

    def test_a_new_payload(self):
        task = submit("held", "--payload", "1")
        self.check(run("task", "edit", task, "--payload", '{"x":  2}'), 0, err="is changed")
        self.assertEqual(show(task)["task"]["payload"], '{"x":  2}')
        self.check(run("task", "edit", task), 2, err="--payload")

    def test_kinds(self):
        self.check(run("kind", "list"), 0, r"held +worker +ok")
        self.check(run("kind", "pause", "fine", "--reason", "moving"), 0, err="fine is paused")
        self.check(run("audit", "list"), 0, "local +kind_paused +fine: moving")
        self.check(run("audit", "list", "--limit", "1"), 0, err="There are more")
        self.check(run("audit", "list", "--json"), 0, '"action":"kind_paused"')
        self.check(run("kind", "show", "fine"), 0, r"fine  paused\n.*http")
        task = submit("fine")
        self.check(run("task", "explain", task), 0, "paused")
        self.check(run("kind", "resume", "fine"), 0, err="fine goes on")
        wait_for(task, "succeeded")
        self.check(run("kind", "show", "no such kind"), 3, err="no kind of that name")

    def test_a_kind_that_nobody_runs_is_not_ok(self):
        submit("stray")
        self.check(run("kind", "list"), 0, r"stray +no handler +1 ")
        self.check(run("kind", "show", "stray"), 0, r"stray  no handler\n")
        self.check(run("doctor", "--server", SERVER.url), 0, "1 task waits, and no node declares it")


if __name__ == "__main__":
    sys.exit(main())
