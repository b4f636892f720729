#!/usr/bin/env python3
"""Runs one of the examples against a real server, for ctest.

    python3 examples/try_example.py build/release/src/app/recourse worker.py

Exits with 77 where the example's own language is not installed.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = "whsec_YW4gZXhhbXBsZSdzIHNpZ25pbmcga2V5LCAzMiBieXRlcw=="
TOKEN = "rcs_an_examples_token_0123456789"
PATIENCE_SECONDS = 40
NOT_HERE = 77


class Child:
    """A process that is gone at the end, whatever happens, and whose lines are read one by one."""

    def __init__(self, command, **environment):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.process.stdout.close()

    def wait_for(self, pattern):
        seen = []
        for line in self.process.stdout:
            seen.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        sys.exit(f"ended without {pattern}:\n{''.join(seen)}")


def call(url, body=None, headers=None):
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(),
                                     {"Authorization": "Bearer " + TOKEN, **(headers or {})})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def serve(program, folder, kind):
    config = os.path.join(folder, "recourse.yaml")
    backoff = "backoff: {strategy: fixed, base: 50ms, min: 0s}"
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"server: {{listen: '127.0.0.1:0'}}\nstore: {{data-dir: '{folder}'}}\n"
                   "auth: {tokens: [{name: example, role: operator, secret: 'env:TOKEN'}]}\n"
                   f"retry: {{scan: {{period: 100ms}}}}\nkinds: {{example: {{{kind}, {backoff}}}}}\n")
    return Child([program, "serve", "--config", config], TOKEN=TOKEN, WEBHOOK_SECRET=SECRET)


def expect_success_at_the_second_attempt(url):
    body = {"kind": "example", "payload": {"fail_until_attempt": 2}}
    task = f"{url}/api/v1/tasks/{call(url + '/api/v1/tasks', body)['id']}"
    end = time.monotonic() + PATIENCE_SECONDS
    while call(task)["state"] != "succeeded":
        if time.monotonic() > end:
            sys.exit(f"not finished: {call(task)}")
        time.sleep(0.05)
    attempts = call(task + "/attempts")["items"]
    assert [a["decision"] == "succeed" for a in attempts] == [False, True], attempts


def expect_forgeries_refused(url):
    headers = {"webhook-id": "tsk_1", "webhook-timestamp": str(int(time.time())), "Recourse-Attempt": "1",
               "webhook-signature": "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= v1,x v0,y"}
    for given in (headers, {}):
        try:
            call(url, {}, given)
            sys.exit("a forged request was accepted")
        except urllib.error.HTTPError as error:
            assert error.code == 401, error.code


def try_worker(program, folder):
    with serve(program, folder, "type: worker") as server:
        url = server.wait_for(r'"url":"([^"]+)"').group(1)
        with Child([sys.executable, os.path.join(HERE, "worker.py"), url, "example"], RECOURSE_TOKEN=TOKEN):
            expect_success_at_the_second_attempt(url)


def try_receiver(program, folder, command):
    with Child([*command, "0"], WEBHOOK_SECRET=SECRET) as receiver:
        target = receiver.wait_for(r"listening on (\S+)").group(1)
        expect_forgeries_refused(target)
        with serve(program, folder, f"url: '{target}', signing: ['env:WEBHOOK_SECRET']") as server:
            expect_success_at_the_second_attempt(server.wait_for(r'"url":"([^"]+)"').group(1))


def try_later(program, folder):
    # Each must know the other's address before it starts: the service's port is kept for it.
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        port = kept.getsockname()[1]
        target = f"http://127.0.0.1:{port}/"
        with serve(program, folder, f"url: '{target}', signing: ['env:WEBHOOK_SECRET']") as server:
            url = server.wait_for(r'"url":"([^"]+)"').group(1)
            with Child([sys.executable, os.path.join(HERE, "later.py"), url, str(port)],
                       WEBHOOK_SECRET=SECRET, RECOURSE_TOKEN=TOKEN) as service:
                service.wait_for(r"listening on (\S+)")
                expect_forgeries_refused(target)
                expect_success_at_the_second_attempt(url)


def main():
    program, example = sys.argv[1:]
    interpreter = shutil.which("node") if example.endswith(".mjs") else sys.executable
    if interpreter is None:
        print(f"skipped: {example} needs node, which is not installed")
        sys.exit(NOT_HERE)
    with tempfile.TemporaryDirectory() as folder:
        if example == "worker.py":
            try_worker(program, folder)
        elif example == "later.py":
            try_later(program, folder)
        else:
            try_receiver(program, folder, [interpreter, os.path.join(HERE, example)])


if __name__ == "__main__":
    main()
