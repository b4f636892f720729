#!/usr/bin/env python3
"""Receives attempts of a kind of type http, with nothing but Python's standard library.

    WEBHOOK_SECRET=whsec_... python3 examples/receiver.py 8000

The kind has `url: http://127.0.0.1:8000/` and `signing: [env:WEBHOOK_SECRET]`. Signatures follow the
Standard Webhooks scheme: HMAC-SHA256 over ID.TIMESTAMP.BODY.

2xx means done. A task may arrive twice, so remember its id (the header webhook-id) with your change.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

OLDEST_SECONDS = 300


def key_of(secret):
    """whsec_ and base 64, or the secret's own bytes."""
    return base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()


def is_genuine(key, headers, body, now):
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs(now - int(sent)) > OLDEST_SECONDS:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # One for each key, so that a secret can be replaced.
    given = [entry[3:] for entry in headers.get("webhook-signature", "").split() if entry.startswith("v1,")]
    return any(hmac.compare_digest(expected, signature.encode()) for signature in given)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    key = key_of(os.environ.get("WEBHOOK_SECRET", ""))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.key, self.headers, body, time.time()):
            return self.answer(401, "the signature is wrong")
        try:
            payload = json.loads(body)
        except ValueError:
            # It will not get better: no retries, straight to a person.
            return self.answer(422, "the payload is not JSON", {"Recourse-Outcome": "dead"})
        attempt = int(self.headers["Recourse-Attempt"])
        if payload.get("fail_until_attempt", 1) > attempt:
            return self.answer(503, "not yet", {"Retry-After": "1"})
        print(f"{self.headers['Recourse-Task']} attempt {attempt}: {payload}", flush=True)
        return self.answer(200, "done")

    def answer(self, status, text, headers=None):
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    if not Receiver.key:
        sys.exit(__doc__)
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
