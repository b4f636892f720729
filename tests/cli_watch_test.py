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

    def test_top_fits_into_a_small_window(self):
        code, seen = self.talk("top", answer=b"q", until=b"q ends it", window=(6, 30))
        self.assertEqual(code, 0, seen)
        picture = re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", seen).decode().split("\r\n")
        self.assertLessEqual(max(map(len, picture)), 30, picture)
        self.assertEqual(len(picture), 6, picture)
        self.assertRegex(picture[-1], "q ends it; . more")


if __name__ == "__main__":
    sys.exit(main())
