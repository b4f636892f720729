#!/usr/bin/env python3
"""Business tables that heal themselves, on the command line: planned, watched, marked, mended.

Usage: cli_guard_test.py PROGRAM [unittest argument...]
"""

import http.server
import json
import pathlib
import sqlite3
import sys
import tempfile
import threading
import time

from cli_support import PATIENCE, CliTest, Server, main, run

GUARD = """
server: {{{{listen: "127.0.0.1:0"}}}}
store: {{{{data-dir: {{directory}}}}}}
guards:
  user-bill:
    table: user_bill
    service-name: Bills
    user-field: user_id
    status-field: status
    success-value: SUCCESS
    fail-value: FAIL
    min-interval-seconds: {interval}
    scan-interval-seconds: 3600
    database: sqlite:{shop}
    handle: http://127.0.0.1:{mend}/
"""

# Nobody answers at its database.
AWAY = """
  away-bill:
    table: user_bill
    service-name: Away
    status-field: status
    success-value: SUCCESS
    fail-value: FAIL
    database: postgres://127.0.0.1:1/shop
    handle: http://127.0.0.1:{mend}/
"""


class Mend(http.server.BaseHTTPRequestHandler):
    """Mends whatever it is asked to."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = b'{"success": true}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


MEND = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mend)
threading.Thread(target=MEND.serve_forever, daemon=True).start()


class Guard(CliTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="recourse-guard-")
        self.shop = pathlib.Path(self.folder.name) / "shop.db"
        self.sql("CREATE TABLE user_bill (id INTEGER PRIMARY KEY, user_id INTEGER, status TEXT)")
        self.sql("INSERT INTO user_bill VALUES (9, 1000, 'SUCCESS'), (10, 1000, 'FAIL'), (11, 1001, 'FAIL')")
        self.server = None
        self.one_is_away = False

    def tearDown(self):
        if self.server:
            self.server.stop()
        self.folder.cleanup()

    def sql(self, statement: str) -> list[tuple]:
        shop = sqlite3.connect(self.shop, timeout=PATIENCE)
        with shop:
            rows = shop.execute(statement).fetchall()
        shop.close()
        return rows

    def config(self, interval: int = 600) -> str:
        both = GUARD.rstrip() + (AWAY if self.one_is_away else "\n")
        return both.format(interval=interval, shop=self.shop, mend=MEND.server_port)

    def serve(self, interval: int = 600):
        self.server = Server(self.config(interval))

    def guard(self, *arguments: str):
        return run("guard", *arguments, server=self.server.url)

    def file(self) -> str:
        path = pathlib.Path(self.folder.name) / "guard.yaml"
        path.write_text(self.config().format(directory=self.folder.name))
        return str(path)

    def columns(self) -> set[str]:
        return {row[1] for row in self.sql("PRAGMA table_info(user_bill)")}

    # GUARD-2: printed instead of run, and what is printed can be run.
    def test_a_plan_changes_nothing_and_is_sql_that_works(self):
        before = self.columns()
        for words in (["guard", "plan"], ["serve", "--plan"]):
            plan = run(*words, "--config", self.file())
            self.check(plan, 0, r"(?s)^-- user-bill: user_bill\n.*err_status.*err_manual_notify_count.*;\n$")
            self.assertEqual(self.columns(), before)
        listed = json.loads(run("guard", "plan", "--config", self.file(), "--json").stdout)["items"][0]
        self.assertEqual((listed["guard"], listed["table"]), ("user-bill", "user_bill"))
        for statement in listed["statements"]:
            self.sql(statement)
        self.assertEqual(len(self.columns() - before), 9)
        self.check(run("guard", "plan", "--config", self.file()), 0, "^$", "Nothing is missing")
        self.sql("ALTER TABLE user_bill RENAME TO bills")
        self.check(run("guard", "plan", "--config", self.file()), 2, "^$", "guards.user-bill: .*user_bill")

    # GUARD-5, GUARD-9
    def test_a_row_is_marked_explained_and_mended(self):
        self.serve(interval=1)
        self.check(self.guard("mark", "user-bill", "10", "--user", "1000"), 0, "^$", "10 will be retried")
        until = time.monotonic() + PATIENCE
        while self.sql("SELECT status, err_status FROM user_bill WHERE id = 10") != [("SUCCESS", 2001)]:
            self.assertLess(time.monotonic(), until, self.guard("explain", "user-bill", "10").stdout)
            time.sleep(0.05)
        page = self.guard("explain", "user-bill", "10")
        self.check(page, 0, r"(?s)^10  of user_bill  not_waiting\n.*2001 \(healed by itself\).*\n  task             tsk_")
        self.assertEqual(json.loads(self.guard("explain", "user-bill", "10", "--json").stdout)["err_status"], 2001)
        self.sql("UPDATE user_bill SET status = 'NEW' WHERE id = 10")
        self.check(self.guard("mark", "user-bill", "10"), 0, "^$", "10 is marked, but its business status is not")
        self.check(self.guard("mark", "user-bill", "99"), 3, "^$", "no row whose id is 99")
        self.check(self.guard("explain", "user-bill", "99"), 3, "^$", "no row")
        self.check(self.guard("explain", "nobody", "10"), 3, "^$", "there is no guard")
        self.check(self.guard("mark", "user-bill", "ten"), 2, "^$", "ten")

    # GUARD-5
    def test_a_user_with_rows_in_trouble_must_wait(self):
        self.serve()
        self.check(self.guard("check-user", "user-bill", "1000"), 0, "^$", "1000 may go on")
        self.guard("mark", "user-bill", "10")
        self.check(self.guard("check-user", "user-bill", "1000"), 4, "^10\n$", "must wait")
        self.check(self.guard("check-user", "user-bill", "1001"), 0, "^$", "may go on")

    # GUARD-13
    def test_a_person_says_that_it_is_done(self):
        self.serve()
        self.guard("mark", "user-bill", "10")
        self.check(self.guard("success", "user-bill", "10"), 0, "^$", "10 is well")
        self.check(self.guard("retry", "user-bill", "10"), 4, "^$", "a person has ended it")
        self.assertEqual(self.sql("SELECT status, err_status, err_submit_manual_status FROM user_bill WHERE id = 10"),
                         [("SUCCESS", 2002, 4002)])
        self.check(self.guard("success", "user-bill", "99"), 3, "^$", "no row")

    def test_watching_changes_nothing_and_fits_a_terminal(self):
        self.serve()
        self.guard("mark", "user-bill", "11")
        before = self.sql("SELECT * FROM user_bill")
        all_guards = self.guard("watch")
        self.check(all_guards, 0, r"GUARD +TABLE.*\nuser-bill +user_bill +1 +0 ")
        self.check(self.guard("watch", "user-bill"), 0, r"(?s)waiting +1 .*failed, unmarked +1 ")
        self.assertEqual(self.sql("SELECT * FROM user_bill"), before)
        self.check(self.guard("list"), 0, r"GUARD +TABLE.*\nuser-bill +user_bill ")
        for page in (all_guards, self.guard("list"), self.guard("watch", "user-bill"), self.guard("explain", "user-bill", "11"),
                     self.guard("explain", "user-bill", "9")):
            for line in page.stdout.decode().splitlines():
                self.assertLessEqual(len(line), 80, line)
        self.check(self.guard("list", "-q"), 0, "^user-bill\n$")

    def test_a_table_is_watched_before_anything_is_done_to_it(self):
        before = self.columns()
        self.check(run("guard", "watch", "--config", self.file()), 0, r"\nuser-bill +user_bill +0 +0 +0 +2\n")
        page = run("guard", "watch", "user-bill", "--config", self.file(), "--json")
        self.assertEqual(json.loads(page.stdout)["drift"]["failed_unmarked"], 2)
        self.assertEqual(self.columns(), before)
        self.check(run("guard", "watch", "nobody", "--config", self.file()), 3, "^$", "no guard nobody")

    def test_a_database_that_is_down_hides_no_other(self):
        self.one_is_away = True
        alone = run("guard", "watch", "--config", self.file())
        self.check(alone, 7, r"GUARD +TABLE.*\nuser-bill +user_bill +0 .*\n$", "away-bill: ")
        self.assertNotIn("user-bill", alone.stderr.decode())
        page = json.loads(run("guard", "watch", "--config", self.file(), "--json").stdout)
        self.assertEqual([("error" in item) for item in page["items"]], [True, False])
        self.check(run("guard", "watch", "away-bill", "--config", self.file()), 6, "^$", "away-bill")
        self.serve()
        self.check(self.guard("watch"), 7, r"GUARD +TABLE.*\nuser-bill +user_bill +0 .*\n$", "away-bill: ")
        self.check(self.guard("watch", "away-bill"), 6, "^$")

    def test_the_doctor_looks_at_the_table_and_at_who_mends_it(self):
        self.check(run("doctor", "--config", self.file()), 0, r"(?s)guard user-bill: user_bill misses .*can be reached")
        self.sql("ALTER TABLE user_bill RENAME TO bills")
        self.check(run("doctor", "--config", self.file()), 1,
                   r"BROKEN +guard user-bill: .*user_bill.*\n +-> correct its database, table and fields; the server does not start like this")

    def test_a_file_that_its_server_has_open_is_not_broken(self):
        self.serve()
        self.check(run("doctor", "--config", self.file()), 0,
                   r"(?s)guard user-bill: .*in use by process \d+.*\n +-> where that is your server, all is well")

    # GUARD-9
    def test_rows_in_trouble_are_named(self):
        self.serve()
        self.check(self.guard("rows", "user-bill"), 0, "^$", "No row is in trouble")
        self.guard("mark", "user-bill", "10")
        self.sql("UPDATE user_bill SET err_status = 4001 WHERE id = 11")
        page = self.guard("rows", "user-bill")
        self.check(page, 0, r"(?s)^ID +STATUS +ERR .*\n10 +\"FAIL\" +4000 .*\n11 +\"FAIL\" +4001 ")
        for line in page.stdout.decode().splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.check(self.guard("rows", "user-bill", "--status", "4001", "-q"), 0, "^11\n$")
        self.check(self.guard("rows", "user-bill", "--limit", "1"), 0, "^ID ", "1 of 2; --limit shows more")
        self.check(self.guard("rows", "user-bill", "--status", "1"), 2, "^$", "must be one of 2000")
        self.check(self.guard("mark", "user-bill", ""), 2, "^$", "must not be empty")
        doctor = run("doctor", server=self.server.url).stdout.decode()
        self.assertRegex(doctor, r"guard user-bill: 1 row waits for a person, in user_bill\n"
                                 r" +-> recourse guard rows user-bill --status 4001; ")

    # One error a row: what one heals, the other would still have to.
    def test_two_guards_of_one_table_are_found_before_the_server_starts(self):
        path = pathlib.Path(self.file())
        own = path.read_text()
        path.write_text(own + own[own.index("  user-bill:"):].replace("user-bill:", "other-bill:", 1))
        for words in (["config", "check"], ["serve"]):
            self.check(run(*words, "--config", str(path)), 2, "^$", 'guards.*"other-bill" and "user-bill" guard the same table')

    # GUARD-6, GUARD-7
    def test_a_scan_is_asked_for(self):
        self.serve()
        self.guard("mark", "user-bill", "10")
        self.sql("UPDATE user_bill SET status = 'SUCCESS' WHERE id = 10")
        self.check(self.guard("scan", "user-bill"), 0, "^$", "^1 healed, 0 due")
        self.assertEqual(self.sql("SELECT err_status FROM user_bill WHERE id = 10"), [(2001,)])
        self.check(self.guard("scan", "nobody"), 3, "^$", "there is no guard")

    # GUARD-16: neither business rows nor the journal are Recourse's to change.
    def test_the_file_stays_the_applications(self):
        self.sql("PRAGMA journal_mode = DELETE")
        self.serve()
        self.guard("mark", "user-bill", "10")
        self.assertEqual(self.sql("PRAGMA journal_mode"), [("delete",)])
        self.assertEqual(self.sql("SELECT COUNT(*) FROM user_bill"), [(3,)])
        self.sql("INSERT INTO user_bill (id, status) VALUES (12, 'FAIL')")
        self.check(self.guard("mark", "user-bill", "12"), 0)


if __name__ == "__main__":
    sys.exit(main())
