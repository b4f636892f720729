"""A server with something to call behind it, and `recourse` run against it. The first argument of the
program that imports this is the path of `recourse`.
"""

import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "recourse"
PATIENCE = 30

CONFIG = """
server: {{listen: "127.0.0.1:0"}}
store: {{data-dir: {directory}}}
retry: {{scan: {{period: 100}}}}
degrade: {{first-retry-after: 0s, clean: {{when: never}}}}
kinds:
  fine: {{url: "http://127.0.0.1:{port}/fine"}}
  bad: {{url: "http://127.0.0.1:{port}/bad"}}
  held: {{type: worker}}
  points: {{url: "http://127.0.0.1:{port}/fine", degrade: true}}
  lost-points: {{url: "http://127.0.0.1:{port}/bad", degrade: true}}
schedules:
  leap-day: {{when: "0 0 29 2 *", kind: held}}
"""


class Downstream(http.server.BaseHTTPRequestHandler):
    """/fine does it, /bad refuses for good; keeps what it was sent."""

    bodies: list[bytes] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Downstream.bodies.append(body)
        self.send_response(200 if self.path == "/fine" else 422)
        if self.path == "/bad":
            self.send_header("Recourse-Outcome", "dead")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server:
    """`recourse serve` in a directory of its own."""

    def __init__(self, config: str, environment: dict[str, str] | None = None):
        self.directory = tempfile.TemporaryDirectory(prefix="recourse-cli-")
        path = pathlib.Path(self.directory.name)
        self.config = path / "recourse.yaml"
        self.config.write_text(config.format(directory=path / "data", port=DOWNSTREAM.server_port))
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--config", str(self.config)], stderr=subprocess.PIPE, text=True,
            env={**clean_environment(), **(environment or {})})
        for line in self.process.stderr:
            found = re.search(r'"url":"(http[^"]*)"', line)
            if found:
                self.url = found.group(1)
                break
        else:
            raise RuntimeError("recourse serve did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.directory.cleanup()


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RECOURSE")}


def run(*arguments: str, server: str | None = None, stdin: bytes = b"",
        environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    variables = {**clean_environment(), "RECOURSE_SERVER": server or SERVER.url,
                 **(environment or {})}
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, env=variables,
                          timeout=PATIENCE, check=False)


def submit(kind: str, *arguments: str) -> str:
    done = run("task", "submit", kind, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def show(task: str) -> dict:
    return json.loads(run("task", "show", task, "--json").stdout)


def wait_for(task: str, state: str):
    end = time.monotonic() + PATIENCE
    while show(task)["task"]["state"] != state:
        assert time.monotonic() < end, f"{task} is not {state}: {show(task)['task']}"
        time.sleep(0.05)


class CliTest(unittest.TestCase):
    def check(self, done: subprocess.CompletedProcess, code: int, out: str = ".*", err: str = ".*"):
        said = f"\n{done.args}\nstdout: {done.stdout}\nstderr: {done.stderr}"
        self.assertEqual(done.returncode, code, said)
        self.assertRegex(done.stdout.decode(), out, said)
        self.assertRegex(done.stderr.decode(), err, said)


DOWNSTREAM = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Downstream)
threading.Thread(target=DOWNSTREAM.serve_forever, daemon=True).start()
SERVER = Server(CONFIG)


def main() -> int:
    try:
        return 0 if unittest.main(argv=sys.argv[:1] + sys.argv[2:], exit=False).result.wasSuccessful() else 1
    finally:
        SERVER.stop()
