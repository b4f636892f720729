#!/usr/bin/env python3
"""A worker that leases tasks over HTTP, with nothing but Python's standard library.

    RECOURSE_TOKEN=rcs_... python3 examples/worker.py http://127.0.0.1:7070 import

It works on one task at a time, renews its lease meanwhile, and reports what became of it. When the
worker dies, the lease ends and another one gets the task: work() may run twice for one task, and
task["id"] is the same both times.
"""

import json
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

LEASE_SECONDS = 30
WAIT_SECONDS = 20


def call(url, path, body):
    """Posts JSON and returns the answer's. HTTPError carries the problem document."""
    headers = {"Content-Type": "application/json"}
    if "RECOURSE_TOKEN" in os.environ:
        headers["Authorization"] = "Bearer " + os.environ["RECOURSE_TOKEN"]
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS + 15) as answer:
        return json.load(answer)


class KeptLease:
    """Renews a lease in the background; `lost` is set when somebody else may have the task."""

    def __init__(self, url, ticket):
        self.url, self.ticket = url, ticket
        self.lost, self.done = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def run(self):
        while not self.done.wait(LEASE_SECONDS / 3):
            try:
                body = {"tickets": [self.ticket], "lease": LEASE_SECONDS}
                answer = call(self.url, "/api/v1/leases/renew", body)
                if answer["items"][0]["lease_end"] is None:
                    self.lost.set()
                    return
            except OSError as error:  # the next try may come in time
                print(f"renewal failed: {error}", file=sys.stderr)


def work(task, lost):
    """Your part. Look at `lost` now and then if it takes long: stop when it is set."""
    payload = json.loads(task["payload"])
    if payload.get("fail_until_attempt", 1) > task["attempt"]:
        raise RuntimeError("not yet")
    print(f"{task['id']} attempt {task['attempt']}: {payload}", flush=True)


def run_one(url, task):
    report = {"ticket": task["ticket"]}
    path = "/api/v1/leases/complete"
    begin = time.monotonic()
    with KeptLease(url, task["ticket"]) as lease:
        try:
            work(task, lease.lost)
        except Exception as error:  # whatever it is, the kind's rules decide what follows
            path = "/api/v1/leases/fail"
            report.update(outcome="retry", code=type(error).__name__, reason=str(error))
    report["took"] = time.monotonic() - begin
    try:
        call(url, path, report)
    except urllib.error.HTTPError as error:
        if error.code != 409:  # 409: the lease ended, and the task is somebody else's
            raise
        print(f"{task['id']} was taken over: {error.read().decode()}", file=sys.stderr)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    url, kinds = sys.argv[1].rstrip("/"), sys.argv[2:]
    name = f"{socket.gethostname()}-{os.getpid()}"
    while True:
        wish = {"worker": name, "kinds": kinds, "wait": WAIT_SECONDS, "lease": LEASE_SECONDS}
        try:
            for task in call(url, "/api/v1/leases", wish)["items"]:
                run_one(url, task)
        except OSError as error:  # HTTPError is one too
            detail = error.read().decode() if isinstance(error, urllib.error.HTTPError) else error
            print(f"waiting, because: {detail}", file=sys.stderr)
            time.sleep(2)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
