#!/usr/bin/env python3
"""A downstream to try Recourse on: it refuses every task twice and takes it at the third attempt.

A payload with "amount" above 1000 is refused for good (422), which makes a dead letter.

    flaky_service.py [PORT]
"""

import http.server
import json
import sys
from collections import Counter


class FlakyService(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    attempts: Counter = Counter()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        task = self.headers.get("Recourse-Task", "unknown")
        self.attempts[task] += 1
        try:
            amount = json.loads(body).get("amount", 0)
        except (ValueError, AttributeError):
            amount = 0
        if isinstance(amount, (int, float)) and amount > 1000:
            self.answer(422, "that is more than anybody gets")
        elif self.attempts[task] < 3:
            self.answer(503, "the points service is having a bad day")
        else:
            self.answer(200, "granted")

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet: the history of the task tells it better."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 7071
    try:
        http.server.ThreadingHTTPServer(("127.0.0.1", port), FlakyService).serve_forever()
    except KeyboardInterrupt:
        pass
