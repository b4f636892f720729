#!/usr/bin/env python3
"""Help, slips of the hand, servers that are not there, the doctor and the demo.

Usage: cli_usage_test.py PROGRAM [unittest argument...]
"""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

from cli_support import DOWNSTREAM, PROGRAM, SERVER, CliTest, clean_environment, main, run, submit


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


class Files(CliTest):
    CONFIG = """kinds:
  bill: {{url: "http://127.0.0.1:1/x"}}
messages:
  sources:
    orders:
      {{url: "amqps://mq/shop", topic: orders, group: billing, kind: bill, tls-ca: {file}}}
notify:
  channels:
    ops: {{type: slack, url: "env:CHAT", authorities: {file}}}
"""

    def test_authorities_that_cannot_be_read_are_told_with_the_place_of_their_key(self):
        with tempfile.TemporaryDirectory() as directory:
            config, file = pathlib.Path(directory) / "r.yaml", pathlib.Path(directory) / "ca.pem"
            config.write_text(self.CONFIG.format(file=file))
            check = lambda: run("config", "check", "--config", str(config),
                                environment={"CHAT": "https://chat.example.com/x"})
            self.check(check(), 2, "^$", rf"(?s)r\.yaml:6:\d+: error: messages\.sources\.orders\.tls-ca names the file .{file}., "
                                         r"which cannot be read.*r\.yaml:9:\d+: error: notify\.channels\.ops\.authorities names")
            self.check(run("doctor", "--config", str(config), environment={"CHAT": "https://chat.example.com/x"}), 1,
                       r"BROKEN +configuration: .*r\.yaml:6:\d+: error: messages\.sources\.orders\.tls-ca")
            file.write_text("nothing")
            self.check(check(), 2, "^$", "has no certificate in it")
            file.write_text("-----BEGIN CERTIFICATE-----\n")
            self.check(check(), 0, "^$", "the configuration is fine")


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


if __name__ == "__main__":
    sys.exit(main())
