#!/usr/bin/env python3
"""The program `recourse` as people use it: every command against a real server on SQLite.

Usage: cli_test.py PROGRAM [unittest argument...]
"""

import json
import os
import pathlib
import pty
import select
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from cli_support import (CONFIG, DOWNSTREAM, PATIENCE, PROGRAM, SERVER, CliTest, Downstream, Server,
                         clean_environment, run, show, submit, wait_for)


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
        self.check(run("task", "submit", "held", "--delay", "soon"), 2, err=r"\n  delay ")
        self.check(run("task", "submit", "held", "--key", "order"), 2, err="--key order=4711")
        self.check(run("task", "submit", "held", "--id", "7"), 2, err=r"\n  id ")


class Looking(CliTest):
    def test_lists_by_state_kind_and_key(self):
        task = submit("held", "--key", "list=1")
        self.check(run("task", "list", "--key", "list=1"), 0, f"ID.*\n{task}  held  pending")
        self.check(run("task", "list", "--key", "list=1", "-q"), 0, f"^{task}\n$")
        self.check(run("task", "list", "--key", "list=1", "--state", "dead,failed"), 0, "^$",
                   "No such tasks")
        self.check(run("task", "list", "--kind", "fine", "--key", "list=1", "-q"), 0, "^$")
        self.check(run("task", "list", "--state", "gone"), 2, err="pending, running")

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

    def test_explains(self):
        task = submit("held")
        self.check(run("task", "explain", task), 0, f"{task} is pending: .*worker")
        self.check(run("task", "explain", task, "--json"), 0, '"code":"nobody_leases"')

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

    def test_ids_and_a_filter_do_not_go_together(self):
        self.check(run("task", "retry", "tsk_1", "--state", "dead"), 2, err="not both")
        self.check(run("task", "retry"), 2, err="nothing to retry")

    def test_dead_letters_are_listed_and_driven_again(self):
        task = submit("bad", "--key", "redrive=1")
        wait_for(task, "dead")
        self.check(run("dead", "list", "--key", "redrive=1"), 0, f"{task}  bad   dead")
        self.check(run("dead", "retry"), 2, err="--all")
        self.check(run("dead", "retry", "--key", "redrive=1", "--dry-run"), 0, err="^1 dead and")
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
        self.check(run("kind", "pause", "fine"), 0, err="fine is paused")
        self.check(run("kind", "show", "fine"), 0, r"fine  paused\n.*http")
        task = submit("fine")
        self.check(run("task", "explain", task), 0, "paused")
        self.check(run("kind", "resume", "fine"), 0, err="fine goes on")
        wait_for(task, "succeeded")
        self.check(run("kind", "show", "no such kind"), 3, err="no kind of that name")


class Events(CliTest):
    def follow(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([PROGRAM, "events", "--server", SERVER.url, *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=clean_environment())

    def first_line(self, process: subprocess.Popen) -> str:
        """Submits until something is seen: the stream may not have begun yet."""
        for _ in range(PATIENCE * 5):
            submit("fine")
            if select.select([process.stdout], [], [], 0.2)[0]:
                return process.stdout.readline()
        self.fail("no event")

    def test_follows_until_interrupted(self):
        with self.follow() as process:
            self.assertRegex(self.first_line(process), r"tsk_\w+ .*fine")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(5), -signal.SIGINT)

    def test_json_lines_up_to_a_count(self):
        with self.follow("--json", "--count", "1", "--kind", "fine") as process:
            self.assertEqual(json.loads(self.first_line(process))["kind"], "fine")
            self.assertEqual(process.wait(PATIENCE), 0)


class Tokens(CliTest):
    CONFIG = CONFIG + """
auth:
  required: true
  tokens: [{{name: root, role: admin, secret: "env:ROOT"}}]
"""
    ROOT = "rcs_" + "r" * 43

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.CONFIG, {"ROOT": cls.ROOT})

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def run_as(self, token: str, *arguments: str) -> subprocess.CompletedProcess:
        return run(*arguments, server=self.server.url,
                   environment={"RECOURSE_TOKEN": token} if token else {})

    def test_are_made_used_and_taken_away(self):
        self.check(self.run_as("", "stats"), 5, "^$", "RECOURSE_TOKEN")
        made = self.run_as(self.ROOT, "token", "create", "ci", "--role", "viewer")
        self.check(made, 0, r"^rcs_\S+\n$", r"shown once.*Its id is \S+\.")
        token = made.stdout.decode().strip()
        self.check(self.run_as(token, "task", "list"), 0)
        self.check(self.run_as(token, "task", "submit", "held"), 5, "^$", "role operator")
        listed = json.loads(self.run_as(self.ROOT, "token", "list", "--json").stdout)["items"]
        ids = [item["id"] for item in listed if item["name"] == "ci"]
        self.check(self.run_as(self.ROOT, "token", "list"), 0, "ci +viewer")
        self.check(self.run_as(self.ROOT, "token", "revoke", ids[0]), 2, err="--yes")
        self.check(self.run_as(self.ROOT, "token", "revoke", ids[0], "--yes"), 0)
        self.check(self.run_as(token, "task", "list"), 5)

    def test_come_from_a_file_and_never_from_the_command_line(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(self.ROOT + "\n")
            file.flush()
            self.check(self.run_as("", "stats", "--token-file", file.name), 0)
        self.check(self.run_as("", "stats", "--token", self.ROOT), 2, err="--token-file")
        self.check(self.run_as("", "token", "create", "x", "--role", "king", "--server",
                               self.server.url), 5)
        self.check(self.run_as(self.ROOT, "token", "create", "x", "--role", "king"), 2,
                   err=r"\n  role ")


class Usage(CliTest):
    def test_a_slip_of_the_hand_is_understood(self):
        self.check(run("tsak", "list"), 2, "^$", "did you mean `recourse task`")
        self.check(run("task", "lsit"), 2, "^$", "did you mean `recourse task list`")
        self.check(run("task", "list", "--staet", "dead"), 2, "^$", "did you mean `--state`")
        self.check(run("--json", "stats"), 2, "^$", "flags stand behind the command")
        self.check(run("task"), 2, "^$", "submit, list")
        self.check(run(), 2, "^$", "recourse serve")

    def test_what_serve_would_refuse_is_told_before(self):
        with tempfile.TemporaryDirectory() as directory:
            config = pathlib.Path(directory) / "recourse.yaml"
            config.write_text("kinds: {report: {type: exec, command: [report.sh]}}\n")
            for command in (("config", "check"), ("serve", "--set", f"store.data-dir={directory}/d")):
                self.check(run(*command, "--config", str(config)), 2,
                           err="kinds.report: .*absolute path of a program")
            self.assertFalse((pathlib.Path(directory) / "d").exists())

    def test_help_begins_with_examples(self):
        for command in [(), ("task",), ("task", "submit"), ("dead", "retry"), ("serve",),
                        ("config", "check"), ("demo",), ("doctor",), ("completion", "bash")]:
            done = run(*command, "--help")
            self.check(done, 0, r"^[^\n]+\n\n  \S*.*recourse ")
        self.check(run("--version"), 0, r"^recourse \d")

    def test_says_what_to_do_where_nobody_answers(self):
        for command in [("stats",), ("task", "list"), ("events",), ("top",)]:
            self.check(run(*command, server="http://127.0.0.1:1"), 6, "^$",
                       "no server answers at http://127.0.0.1:1: start one with `recourse serve`")
        self.check(run("stats", "--server", "localhost"), 2, err="http://127.0.0.1:7070")

    def test_does_not_wait_for_ever(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            self.check(run("stats", "--timeout", "200ms", server=url), 6, "^$", "took too long")

    def test_tells_another_server_from_ours(self):
        url = f"http://127.0.0.1:{DOWNSTREAM.server_port}"
        self.check(run("stats", server=url), 1, "^$", "correct --server")

    def test_no_colour_without_a_terminal(self):
        self.assertNotIn(b"\x1b", run("task", "list").stdout + run("kind", "list").stdout)

    def test_completion_completes(self):
        script = run("completion", "bash").stdout.decode()
        done = subprocess.run(
            ["bash", "-c", script + 'COMP_WORDS=(recourse task re); COMP_CWORD=2; _recourse; '
                                    'echo "${COMPREPLY[@]}"'],
            capture_output=True, check=True)
        self.assertEqual(done.stdout.split(), [b"retry", b"resume", b"resolve"])
        for shell in ["zsh", "fish"]:
            self.check(run("completion", shell), 0, "recourse")


class OnATerminal(CliTest):
    def talk(self, *arguments: str, answer: bytes, until: bytes) -> tuple[int, bytes]:
        """Runs it on a terminal of its own; answers once `until` was seen."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(PROGRAM, [PROGRAM, *arguments, "--server", SERVER.url], clean_environment())
        seen, answered = b"", False
        try:
            while part := os.read(terminal, 4096):
                seen += part
                if until in seen and not answered:
                    answered = True
                    os.write(terminal, answer)
        except OSError:
            pass  # how a terminal ends
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen

    def test_asks_for_the_word_before_what_cannot_be_taken_back(self):
        task = submit("held", "--key", "asked=1")
        command = ["task", "cancel", "--key", "asked=1", "--state", "pending"]
        code, seen = self.talk(*command, answer=b"y\n", until=b"Type cancel to go on")
        self.assertEqual(code, 1, seen)
        self.assertEqual(show(task)["task"]["state"], "pending")
        code, seen = self.talk(*command, answer=b"cancel\n", until=b"Type cancel to go on")
        self.assertEqual(code, 0, seen)
        self.assertEqual(show(task)["task"]["state"], "cancelled")

    def test_ctrl_c_ends_top_at_once(self):
        code, seen = self.talk("top", answer=b"\x03", until=b"Ctrl-C ends it")
        self.assertEqual(code, -signal.SIGINT, seen)
        self.assertIn(b"KIND", seen)


class Doctor(CliTest):
    def test_finds_nothing_wrong_with_a_good_server(self):
        done = run("doctor", "--server", SERVER.url)
        self.check(done, 0, "server")

    def test_names_what_is_broken_and_the_remedy(self):
        with tempfile.TemporaryDirectory() as directory:
            config = pathlib.Path(directory) / "r.yaml"
            config.write_text(f"store: {{data-dir: {directory}}}\nkinds:\n"
                              "  gone: {url: 'http://127.0.0.1:1/x'}\n"
                              "  lost: {type: exec, command: [/no/such/program]}\n")
            done = run("doctor", "--config", str(config))
            self.check(done, 1, r"(?s)gone.*127.0.0.1:1.*lost.*/no/such/program")
            config.write_text("kindz: {}\n")
            self.check(run("doctor", "--config", str(config)), 1, "kindz")

    def test_looks_into_the_store_of_a_configuration(self):
        done = run("doctor", "--config", str(SERVER.config), "--server", SERVER.url)
        self.check(done, 0, "schema")


class Demo(CliTest):
    def test_tells_its_story_and_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as directory:
            done = run("demo", "--seconds", "0", environment={"TMPDIR": directory})
            self.check(done, 0, r"(?s)is down.*HTTP 503.*all 5 are done.*dead retry.*RECOURSE_SERVER=")
            self.assertEqual(os.listdir(directory), [])

    def test_ctrl_c_ends_it_at_once(self):
        with tempfile.TemporaryDirectory() as directory:
            process = subprocess.Popen([PROGRAM, "demo"], stdout=subprocess.PIPE,
                                       env={**clean_environment(), "TMPDIR": directory})
            with process:
                process.stdout.readline()
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(10), 0)
            self.assertEqual(os.listdir(directory), [])


def main() -> int:
    try:
        return 0 if unittest.main(argv=sys.argv[:1] + sys.argv[2:], exit=False).result.wasSuccessful() else 1
    finally:
        SERVER.stop()


if __name__ == "__main__":
    sys.exit(main())
