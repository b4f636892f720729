"""A guarded row that needs a person, told by e-mail as the source's `abnormal.retry` block asks for. GUARD-12.

Usage: guard_mail_test.py PROGRAM NOTHING [unittest argument...]
"""

import email
import email.policy
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from notify_support import CERTIFICATE, PASSWORD, PATIENCE, USER, MailServer, free_port

PROGRAM = sys.argv[1]
CONFIG = """
server: {{listen: "127.0.0.1:0"}}
store: {{data-dir: {folder}}}
abnormal:
  retry:
    scan-interval-seconds: 1
    mail-from: "Recourse <recourse@example.org>"
    mail-to:
      - "Ops <ops@example.org>"
notify:
  channels:
    mail: {{type: email, server: "{mail}", user: {user}, password: "env:MAIL_PASSWORD", authorities: {certificate}}}
guards:
  user-bill:
    table: user_bill
    service-name: 账单
    status-field: status
    success-value: SUCCESS
    fail-value: FAIL
    max-retry-count: 0
    manual-remind-interval-seconds: 1
    manual-success-route: /api/bill/success
    database: sqlite:{folder}/shop.db
    handle: http://127.0.0.1:{nobody}/
"""


class GuardMailTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="recourse-guard-mail-")
        self.sql("CREATE TABLE user_bill (id INTEGER PRIMARY KEY, status TEXT, err_status INTEGER)")
        self.sql("INSERT INTO user_bill VALUES (10, 'FAIL', 4000)")
        self.server = None

    def tearDown(self):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(PATIENCE)
        self.folder.cleanup()

    def sql(self, statement: str) -> list[tuple]:
        shop = sqlite3.connect(pathlib.Path(self.folder.name) / "shop.db", timeout=PATIENCE)
        with shop:
            rows = shop.execute(statement).fetchall()
        shop.close()
        return rows

    def serve(self, mail: MailServer, password: str = PASSWORD):
        config = pathlib.Path(self.folder.name) / "recourse.yaml"
        config.write_text(CONFIG.format(folder=self.folder.name, mail=mail.url, user=USER, certificate=CERTIFICATE,
                                        nobody=free_port()), encoding="utf-8")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("RECOURSE")}
        self.server = subprocess.Popen([PROGRAM, "serve", "--config", str(config)], stderr=subprocess.DEVNULL,
                                       env={**clean, "MAIL_PASSWORD": password})

    def wait_for(self, holds):
        until = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    def row(self, columns: str) -> tuple:
        return self.sql(f"SELECT {columns} FROM user_bill")[0]

    def has_columns(self) -> bool:
        return "err_submit_manual_status" in {column[1] for column in self.sql("PRAGMA table_info(user_bill)")}

    def test_a_person_is_told_and_reminded(self):
        with MailServer("starttls") as mail:
            self.serve(mail)
            self.wait_for(lambda: len(mail.box.mails) >= 2)
            self.wait_for(lambda: self.row("err_manual_notify_count")[0] >= 2)
        first, second = (email.message_from_bytes(sent[2], policy=email.policy.default) for sent in mail.box.mails[:2])
        self.assertEqual(mail.box.mails[0][:2], ("recourse@example.org", ["ops@example.org"]))
        self.assertIn("guard.user-bill", first["Subject"])
        self.assertIn("Reminder 1", second["Subject"])
        text = first.get_body(("plain",)).get_content()
        for part in ("user_bill", "10", "账单", "/api/bill/success"):
            self.assertIn(part, text)
        self.assertEqual(self.row("err_status, err_submit_manual_status"), (4001, 2000))

    def test_a_mail_that_does_not_go_out_is_on_the_row(self):
        with MailServer("starttls") as mail:
            self.serve(mail, password="wrong")
            self.wait_for(lambda: self.has_columns() and self.row("err_submit_manual_status") == (4000,))
        self.assertEqual(self.row("err_status, err_manual_notify_count")[0], 4001)
        self.assertIn(self.row("err_manual_notify_count")[0], (0, None))
        self.assertEqual(mail.box.mails, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
