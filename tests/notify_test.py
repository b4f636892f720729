#!/usr/bin/env python3
"""People are told of what waits for them by the real program, whoever kills it when.

Usage: notify_test.py PROGRAM [unittest argument...]
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "recourse"
PATIENCE = 60
KEY = b"a key of twenty-four byt"
ROUNDS = 100 if os.environ.get("RECOURSE_TEST_FULL") else 6

CONFIG = """
server: {{listen: "127.0.0.1:0"}}
store: {{data-dir: {directory}}}
retry: {{scan: {{period: 100}}}}
kinds:
  refused: {{type: exec, command: [/bin/false], max-retries: 0}}
  fine: {{type: exec, command: ["/bin/true"]}}
notify:
  channels:
    hook: {{type: webhook, url: "env:HOOK", signing-secrets: ["env:HOOK_KEY"]}}
  rules:
    - {{name: all, events: [dead_letter], channels: [hook]}}
  reminders: {{interval: {interval}, hold: 1s}}
"""


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps what is signed; refuses the rest."""

    notices: list[dict] = []
    unsigned = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = b".".join([self.headers["webhook-id"].encode(), self.headers["webhook-timestamp"].encode(), body])
        expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        good = f"v1,{expected}" in self.headers["webhook-signature"].split(" ")
        if good:
            Receiver.notices.append({**json.loads(body)["data"], "came": time.time()})
        else:
            Receiver.unsigned += 1
        self.send_response(204 if good else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


RECEIVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=RECEIVER.serve_forever, daemon=True).start()


class Server:
    def __init__(self, directory: pathlib.Path, interval: str = "1h"):
        config = directory / "recourse.yaml"
        config.write_text(CONFIG.format(directory=directory, interval=interval))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RECOURSE")}
        environment["HOOK"] = f"http://127.0.0.1:{RECEIVER.server_port}/hook"
        environment["HOOK_KEY"] = "whsec_" + base64.b64encode(KEY).decode()
        self.environment = environment
        self.process = subprocess.Popen([PROGRAM, "serve", "--config", str(config)], stderr=subprocess.PIPE,
                                        text=True, env=environment)
        for line in self.process.stderr:
            if found := re.search(r'"url":"(http[^"]*)"', line):
                self.url = found.group(1)
                break
        else:
            raise RuntimeError("recourse serve did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def run(self, *arguments: str) -> str:
        done = subprocess.run([PROGRAM, *arguments, "--server", self.url], capture_output=True, text=True,
                              timeout=PATIENCE, env=self.environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def stop(self, how: signal.Signals = signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(PATIENCE)


def wait_until(condition, what: str):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def told(task: str) -> list[dict]:
    return [notice for notice in list(Receiver.notices) if notice["task"] == task]


class Notify(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="recourse-notify-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_reminds_until_somebody_has_dealt_with_it(self):
        server = Server(self.path, interval="1s")
        self.addCleanup(server.stop)
        server.run("task", "submit", "fine")
        task = server.run("task", "submit", "refused")
        wait_until(lambda: len(told(task)) >= 3, "two reminders")
        first, second, third = told(task)[:3]
        self.assertEqual([first["reminder"], second["reminder"], third["reminder"]], [0, 1, 2])
        self.assertEqual(len({first["id"], second["id"], third["id"]}), 3)
        self.assertEqual((first["event"], first["kind"], first["reason"]), ("dead_letter", "refused", "EXIT_1"))
        self.assertGreaterEqual(second["came"] - first["came"], 1)
        self.assertGreaterEqual(third["came"] - second["came"], 2)
        server.run("task", "resolve", task, "--reason", "seen to")
        count = len(told(task))
        time.sleep(4)
        self.assertEqual(len(told(task)), count, "resolved, and reminded of all the same")
        self.assertEqual({notice["kind"] for notice in Receiver.notices}, {"refused"})
        self.assertEqual(Receiver.unsigned, 0)

    def test_whatever_is_killed_every_dead_letter_is_told(self):
        chance = random.Random(6)
        tasks = []
        for _ in range(ROUNDS):
            server = Server(self.path)
            for _ in range(3):
                tasks.append(server.run("task", "submit", "refused"))
            time.sleep(chance.uniform(0, 0.2))
            server.stop(signal.SIGKILL)
        server = Server(self.path)
        self.addCleanup(server.stop)
        wait_until(lambda: all(told(task) for task in tasks), "every dead letter told")
        for task in tasks:
            # More than once only under the same id: receivers recognise it.
            self.assertEqual({notice["id"] for notice in told(task)}, {told(task)[0]["id"]})


def main() -> int:
    return 0 if unittest.main(argv=sys.argv[:1] + sys.argv[2:], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
