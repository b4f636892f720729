#!/usr/bin/env python3
"""`recourse serve` as the system under it sees it.

    python3 tests/service_test.py build/release/src/app/recourse
"""

import ctypes
import json
import os
import pathlib
import resource
import signal
import socket
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

    def thread(self, name: str) -> int:
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == name:
                return int(task.name)
        raise AssertionError(f"no thread {name}")


class Supervisor:
    """What systemd is to a service of Type=notify: a socket that it writes to."""

    def __init__(self, address: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0"))
        self.environment = {"NOTIFY_SOCKET": address}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def hears(self, within: float = PATIENCE) -> dict[str, str] | None:
        """The next message; none where nothing comes."""
        self.socket.settimeout(within)
        try:
            return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().split("\n"))
        except TimeoutError:
            return None


class HeldThread:
    """One thread stands still, as if it hung; the others run."""

    DETACH, SEIZE, INTERRUPT = 17, 0x4206, 0x4207
    WALL = 0x40000000

    def __init__(self, thread: int):
        self.thread = thread
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        for request in (self.SEIZE, self.INTERRUPT):
            if self.libc.ptrace(request, self.thread, None, None) != 0:
                raise unittest.SkipTest(f"ptrace: {os.strerror(ctypes.get_errno())}")
        os.waitpid(self.thread, self.WALL)

    def __exit__(self, *_):
        self.libc.ptrace(self.DETACH, self.thread, None, None)


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


class Notifications(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="recourse-notify-"))

    def supervisor(self, address: str | None = None) -> Supervisor:
        return self.enterContext(Supervisor(address or f"{self.folder}/notify"))

    def start(self, supervisor: Supervisor, **more: str) -> Service:
        service = self.enterContext(Service({**supervisor.environment, **more}))
        self.first = supervisor.hears()
        return service

    def test_says_when_it_serves_reads_again_and_stops(self):
        supervisor = self.supervisor()

        service = self.start(supervisor)
        self.assertEqual(self.first["READY"], "1")
        self.assertEqual(self.first["STATUS"], "Serves on " + service.logged("serving")["url"])
        service.process.send_signal(signal.SIGHUP)
        self.assertEqual(supervisor.hears()["RELOADING"], "1")
        self.assertEqual(supervisor.hears(), self.first)
        self.assertEqual(service.stop(), 0)

        last = supervisor.hears()
        self.assertEqual(last["STOPPING"], "1")
        self.assertEqual(last["EXTEND_TIMEOUT_USEC"], "45000000")  # 30 s for what runs, and the rest
        self.assertRegex(last["STATUS"], "up to 30s")
        self.assertIsNone(supervisor.hears(0.1))

    def test_a_socket_may_be_a_name_and_no_file(self):
        supervisor = self.supervisor(f"@recourse-test-{os.getpid()}")

        self.start(supervisor)

        self.assertEqual(self.first["READY"], "1")

    def test_a_supervisor_that_is_gone_is_complained_of_once(self):
        with Service({"NOTIFY_SOCKET": f"{self.folder}/nobody", "WATCHDOG_USEC": "100000"}) as service:
            service.logged("supervisor_not_told")

            self.assertEqual(service.stop(), 0)

            self.assertEqual(service.log.read_text().count("supervisor_not_told"), 1)

    def test_an_idle_engine_feeds_the_watchdog_and_a_hanging_one_does_not(self):
        supervisor = self.supervisor()
        service = self.start(supervisor, WATCHDOG_USEC="600000")
        for _ in range(4):
            self.assertEqual(supervisor.hears(), {"WATCHDOG": "1"})

        with HeldThread(service.thread("engine-core")):
            late = 0  # what was done before still counts once
            while late < 4 and supervisor.hears(1.5):
                late += 1
            self.assertLess(late, 4)

        self.assertEqual(supervisor.hears(), {"WATCHDOG": "1"})

    def test_anothers_watchdog_is_not_fed(self):
        supervisor = self.supervisor()
        self.start(supervisor, WATCHDOG_USEC="100000", WATCHDOG_PID="1")

        self.assertIsNone(supervisor.hears(0.5))


if __name__ == "__main__":
    unittest.main()
