#!/usr/bin/env python3
"""Receives attempts of a kind of type http, answers 202 at once, and reports when the work is done.

    WEBHOOK_SECRET=whsec_... RECOURSE_TOKEN=rcs_... python3 examples/later.py http://127.0.0.1:7070 8000

The kind has `url: http://127.0.0.1:8000/` and `signing: [env:WEBHOOK_SECRET]`. The signature is checked
as in receiver.py; renewals and the report, by the ticket that came with the call, are those of worker.py.

When this program dies, nobody renews: the lease ends, and the task comes again, under another ticket.
"""

import http.server
import os
import sys
import threading
import time

from receiver import is_genuine, key_of
from worker import LEASE_SECONDS, run_one

JOBS_MAX = 8


class Later(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    key = key_of(os.environ.get("WEBHOOK_SECRET", ""))
    places = threading.BoundedSemaphore(JOBS_MAX)
    recourse = ""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.key, self.headers, body, time.time()):
            return self.answer(401)
        if not self.places.acquire(blocking=False):
            return self.answer(503, {"Retry-After": "1"})
        task = {"id": self.headers["Recourse-Task"], "attempt": int(self.headers["Recourse-Attempt"]),
                "ticket": self.headers["Recourse-Ticket"], "payload": body.decode()}
        threading.Thread(target=self.run, args=[task], daemon=True).start()
        return self.answer(202, {"Recourse-Lease": str(LEASE_SECONDS)})

    def run(self, task):
        try:
            run_one(self.recourse, task)
        except OSError as error:  # not reported: the lease ends, and the task comes again
            print(f"{task['id']} could not be reported: {error}", file=sys.stderr)
        finally:
            self.places.release()

    def answer(self, status, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": "0", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    if not Later.key or len(sys.argv) < 2:
        sys.exit(__doc__)
    Later.recourse = sys.argv[1].rstrip("/")
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Later)
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
