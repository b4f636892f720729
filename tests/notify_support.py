"""Receivers for notifications: an HTTP server, a mail server with TLS and passwords, and certificates for
both. The first argument of the program that imports this is the path of notify_driver, the second the
folder with the reference implementation of Standard Webhooks.
"""

import asyncio
import http.server
import logging
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import warnings

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

DRIVER, REFERENCE = sys.argv[1], sys.argv[2]
PATIENCE = 60
USER, PASSWORD = "recourse", "correct horse"

FOLDER = tempfile.TemporaryDirectory(prefix="recourse-notify-")


def make_certificate(name: str) -> tuple[str, str]:
    """Signed by itself, for `localhost`."""
    key, certificate = (str(pathlib.Path(FOLDER.name) / f"{name}.{end}") for end in ("key", "pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
                    "-out", certificate, "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return certificate, key


CERTIFICATE, KEY = make_certificate("server")
STRANGER, _ = make_certificate("stranger")


def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    return context


class Driven:
    """How one notice went."""

    def __init__(self, channel: str, **settings: str):
        begun = time.monotonic()
        arguments = {"id": "ntc_1", "kind": "grant-points", "error": "boom", **settings}
        done = subprocess.run([DRIVER, channel, *(f"{name.replace('_', '-')}={value}" for name, value in arguments.items())],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.took = time.monotonic() - begun
        self.code = done.returncode
        self.said = done.stdout + done.stderr
        self.sent = self.code == 0 and self.said.startswith("sent ")


class Receiver:
    """Keeps what was POSTed; answers with the statuses of `answers` in turn, the last for ever."""

    def __init__(self, *answers: tuple[int, str], with_tls: bool = False):
        receiver = self
        self.requests: list[tuple[str, dict[str, str], str]] = []
        left = list(answers) or [(200, "ok")]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.requests.append((self.path, headers, body))
                status, answer = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer.encode())))
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if with_tls:
            self.server.socket = tls().wrap_socket(self.server.socket, server_side=True)
        scheme = "https" if with_tls else "http"
        self.url = f"{scheme}://localhost:{self.server.server_port}/hook/secret-path?key=secret-key"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Silence:
    """Takes connections and never says a word."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        return self

    def __exit__(self, *_):
        self.socket.close()


class Mailbox:
    """What a mail server took."""

    def __init__(self, refuse: str = ""):
        self.mails: list[tuple[str, list[str], bytes]] = []
        self.users: list[bytes] = []
        self.refuse = refuse

    async def handle_RCPT(self, _server, _session, envelope, address, _options):
        if self.refuse:
            return self.refuse
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server, _session, envelope):
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 taken"


class MailServer(Controller):
    """`starttls`: TLS is asked for and passwords before it are refused. `smtps`: TLS from the start.
    `plain`: no TLS at all."""

    def __init__(self, mode: str = "starttls", refuse: str = ""):
        self.mode = mode
        self.box = Mailbox(refuse)
        super().__init__(self.box, hostname="127.0.0.1", port=free_port(),
                         ssl_context=tls() if mode == "smtps" else None)

    def authenticate(self, _server, _session, _envelope, _mechanism, login):
        good = (login.login, login.password) == (USER.encode(), PASSWORD.encode())
        if good:
            self.box.users.append(login.login)
        return AuthResult(success=good, handled=False)

    def factory(self):
        starttls = self.mode == "starttls"
        return SMTP(self.box, hostname="localhost", authenticator=self.authenticate,
                    auth_required=self.mode != "plain", auth_require_tls=starttls,
                    require_starttls=starttls, tls_context=tls() if starttls else None)

    @property
    def url(self) -> str:
        return f"{'smtps' if self.mode == 'smtps' else 'smtp'}://localhost:{self.port}"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


# What it says of clients that break off, and of servers set up as badly as these are meant to be.
logging.getLogger("mail.log").setLevel(logging.CRITICAL)
warnings.simplefilter("ignore")
# Python 3.11's asyncio wants one where aiosmtpd makes its server.
asyncio.set_event_loop(asyncio.new_event_loop())
