#!/usr/bin/env python3
"""`recourse serve` as the system under it sees it.

    python3 tests/service_test.py build/release/src/app/recourse
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "recourse"
PATIENCE = 30


class Service:
    """A server in a directory of its own, which tells all it does in its log."""

    def __init__(self, environment: dict[str, str] | None = None, before=None):
        self.directory = tempfile.TemporaryDirectory(prefix="recourse-service-")
        self.path = pathlib.Path(self.directory.name)
        self.log = self.path / "log"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("RECOURSE")}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--set", f"store.data-dir={self.path}",
                 "--set", "log.level=debug"],
                stderr=log, env={**clean, **(environment or {})}, preexec_fn=before)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()

    def logged(self, event: str) -> dict:
        """The line of this event, once it is there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for line in self.log.read_text().splitlines(keepends=True):
                if line.endswith("}\n") and json.loads(line)["event"] == event:
                    return json.loads(line)
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"no {event} in: {self.log.read_text()}")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


class OpenFiles(unittest.TestCase):
    def test_the_soft_limit_becomes_the_hard_one(self):
        with Service(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 3000))) as service:
            said = service.logged("open_files")
            service.logged("serving")

            now = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)

        self.assertEqual(now, (3000, 3000))
        self.assertEqual((said["before"], said["limit"]), ("200", "3000"))

    def test_no_more_than_a_server_can_use(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        with Service(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))) as service:
            service.logged("serving")

            now = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)

        self.assertEqual(now, (min(hard, 524288), hard))


if __name__ == "__main__":
    unittest.main()
