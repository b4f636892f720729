#!/usr/bin/env python3
"""What goes on until somebody ends it, and what asks whoever sits in front of it.

Usage: cli_watch_test.py PROGRAM [unittest argument...]
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios

from cli_support import PATIENCE, PROGRAM, SERVER, CliTest, clean_environment, main, show, submit


class Events(CliTest):
    def follow(self, *arguments: str) -> subprocess.Popen:
        process = subprocess.Popen([PROGRAM, "events", "--server", SERVER.url, *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=clean_environment())
        # Whatever fails before: a `with` waits for its end.
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def first_line(self, process: subprocess.Popen) -> str:
        """Of a task. Submits until something is seen: the stream may not have begun yet, and the
        node tells of itself too."""
        for _ in range(PATIENCE * 5):
            submit("fine")
            while select.select([process.stdout], [], [], 0.2)[0]:
                line = process.stdout.readline()
                if "tsk_" in line or not line:
                    return line
        self.fail("no event")

    def test_follows_until_interrupted(self):
        process = self.follow()
        self.assertRegex(self.first_line(process), r"tsk_\w+ .*fine")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(5), -signal.SIGINT)

    def test_json_lines_up_to_a_count(self):
        process = self.follow("--json", "--count", "1", "--kind", "fine")
        self.assertEqual(json.loads(self.first_line(process))["kind"], "fine")
        self.assertEqual(process.wait(PATIENCE), 0)


def run_as_a_job(command: list[str]) -> int:
    """As a shell does: in a group of its own, in front; once it stops, says what the terminal is
    like, and lets it go on. The code it ends with."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execve(command[0], command, {**clean_environment(), "TERM": "xterm"})
    while os.WIFSTOPPED(status := os.waitpid(job, os.WUNTRACED)[1]):
        os.tcsetpgrp(0, os.getpid())
        echo = termios.tcgetattr(0)[3] & termios.ECHO
        os.write(1, b"stopped, echo is " + (b"on" if echo else b"off"))
        os.tcsetpgrp(0, job)
        os.kill(job, signal.SIGCONT)
    return os.waitstatus_to_exitcode(status) & 0xFF


class OnATerminal(CliTest):
    def talk(self, *arguments: str, answer: bytes, until: bytes,
             window: tuple[int, int] = (24, 80)) -> tuple[int, bytes]:
        """Runs it on a terminal of its own; answers once `until` was seen. Keeps the terminal's modes
        as they were before and after."""
        child, terminal = pty.fork()
        if child == 0:
            termios.tcsetwinsize(0, window)
            os.execve(PROGRAM, [PROGRAM, *arguments, "--server", SERVER.url],
                      {**clean_environment(), "TERM": "xterm"})
        self.modes = [termios.tcgetattr(terminal)]
        seen, answered = b"", False
        try:
            while part := os.read(terminal, 4096):
                seen += part
                if until in seen and not answered:
                    answered = True
                    os.write(terminal, answer)
        except OSError:
            pass  # how a terminal ends
        self.modes.append(termios.tcgetattr(terminal))
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

    def test_top_leaves_the_terminal_as_it_was(self):
        for key, end in [(b"\x03", -signal.SIGINT), (b"q", 0), (b"\x1c", -signal.SIGQUIT)]:
            code, seen = self.talk("top", answer=key, until=b"q ends it")
            self.assertEqual(code, end, seen)
            self.assertIn(b"KIND", seen)
            self.assertTrue(seen.startswith(b"\x1b[?1049h"), seen)
            self.assertTrue(seen.endswith(b"\x1b[?1049l"), seen)
            self.assertEqual(self.modes[0][3], self.modes[1][3], "keys are not echoed any more")

    def test_top_gives_the_terminal_back_while_it_is_stopped(self):
        child, terminal = pty.fork()
        if child == 0:
            os._exit(run_as_a_job([PROGRAM, "top", "--server", SERVER.url]))
        seen = b""
        try:
            for until, answer in [(b"q ends it", b"\x1a"), (b"stopped, echo is o", b""),
                                  (b"q ends it", b"q")]:
                part = b""
                while until not in part:
                    part += os.read(terminal, 4096)
                seen += part
                os.write(terminal, answer)
            while part := os.read(terminal, 4096):
                seen += part
        except OSError:
            pass  # how a terminal ends
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, seen)
        self.assertIn(b"echo is on", seen)
        self.assertEqual(seen.count(b"\x1b[?1049h"), 2, seen)
        self.assertTrue(seen.endswith(b"\x1b[?1049l"), seen)

    def test_top_does_not_hear_what_whoever_started_it_ignores(self):
        child, terminal = pty.fork()
        if child == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.execve(PROGRAM, [PROGRAM, "top", "--server", SERVER.url],
                      {**clean_environment(), "TERM": "xterm"})
        seen = b""
        try:
            while b"q ends it" not in seen:
                seen += os.read(terminal, 4096)
            os.kill(child, signal.SIGHUP)
            os.write(terminal, b"q")
            while part := os.read(terminal, 4096):
                seen += part
        except OSError:
            pass  # how a terminal ends
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, seen)

    def test_top_fits_into_a_small_window(self):
        code, seen = self.talk("top", answer=b"q", until=b"q ends it", window=(6, 30))
        self.assertEqual(code, 0, seen)
        picture = re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", seen).decode().split("\r\n")
        self.assertLessEqual(max(map(len, picture)), 30, picture)
        self.assertEqual(len(picture), 6, picture)
        self.assertRegex(picture[-1], "q ends it; . more")


if __name__ == "__main__":
    sys.exit(main())
