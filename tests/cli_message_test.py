#!/usr/bin/env python3
"""Messages on the command line: found, looked at, retried, ended, cleaned up.

Usage: cli_message_test.py PROGRAM [unittest argument...]
"""

import json
import sys
import time
import urllib.request

from cli_support import CONFIG, PATIENCE, CliTest, Server, main, run as run_at

# With a source whose broker is away.
MESSAGES = Server(CONFIG.replace("kinds:\n", """kinds:
  bill: {{url: "http://127.0.0.1:{port}/fine", message: true}}
  late: {{type: worker, message: true, backoff: {{base: 1h, max: 1h}}}}
""") + """
messages:
  sources:
    nowhere: {{url: "redis://127.0.0.1:1/0", topic: orders, group: billing, kind: bill}}
""")


def run(*arguments: str):
    return run_at(*arguments, server=MESSAGES.url)


def record(message: str, retryable: bool = False, kind: str = "bill", **more) -> str:
    """As a consumer of a broker without an adapter does it."""
    body = {"kind": kind, "source": "rocketmq", "group": "billing", "topic": "orders",
            "message_id": message, "error_message": "the bank refused", "retryable": retryable, **more}
    request = urllib.request.Request(MESSAGES.url + "/api/v1/messages/record",
                                     json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["id"]


def shown(message: str) -> dict:
    return json.loads(run("message", "show", message, "--json").stdout)


def wait_until(message: str, status: str):
    until = time.monotonic() + PATIENCE
    while shown(message)["status"] != status:
        if time.monotonic() > until:
            raise AssertionError(f"{message} is {shown(message)}, not {status}")
        time.sleep(0.05)


class Message(CliTest):
    def test_one_is_found_and_looked_at(self):
        task = record("m-1", business_id="order-7", body='{"order": 7}', exception_type="BankException",
                      error_code="REFUSED")
        page = run("message", "show", task)
        self.check(page, 0, rf"^{task}  bill  PENDING\n")
        for part in ["m-1", "orders", "billing", "order-7", "REFUSED: the bank refused", '{"order": 7}']:
            self.assertIn(part, page.stdout.decode())
        self.check(run("message", "list", "--message-id", "m-1"), 0, rf"ID +STATUS.*\n{task}  PENDING")
        self.check(run("message", "list", "--message-id", "m-1", "--status", "processed"), 0, "^$",
                   "No such messages")
        self.check(run("message", "list", "--status", "1", "--business-id", "order-7", "--json"), 0, task)
        self.check(run("message", "history", task), 0, r"ATTEMPT.*\n +1 .*FAILED.*REFUSED")
        history = json.loads(run("message", "history", task, "--json").stdout)["items"]
        self.assertEqual(history[0]["exception_type"], "BankException")
        self.check(run("message", "list", "--status", "5"), 2, "^$", "must be RETRYING")
        self.check(run("message", "list", "--kind", "held"), 2, "^$", "must be a message kind")
        self.check(run("message", "show", "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV"), 3)

    def test_one_that_waits_tells_when_it_is_retried(self):
        task = record("waits-1", retryable=True, kind="late")
        self.check(run("message", "show", task), 0, r"(?s)RETRYING\n.*\n  next retry   20\d\d-[-0-9T:.]+Z  \(in \d+ ")
        self.check(run("message", "show", record("waits-2")), 0, r"\n  next retry   none: it waits for a person\n")

    def test_one_is_retried_or_ended(self):
        task = record("m-2")
        self.check(run("message", "retry", task, "--reason", "the bank is back"), 0, "^$", f"{task} is retried")
        wait_until(task, "PROCESSED")
        self.check(run("message", "retry", task), 4, "^$", "PROCESSED")
        processed, ignored = record("m-3"), record("m-4")
        self.check(run("message", "processed", processed, "--reason", "paid by hand"), 0, "^$", "is marked as processed")
        self.check(run("message", "show", processed), 0, r"(?s)PROCESSED\n.*\nWHEN +WHO +DID +DETAIL.*paid by hand")
        self.check(run("message", "ignore", ignored, "--json"), 0, '"effect": ?"done"')
        self.assertEqual(shown(processed)["status"], "PROCESSED")
        self.assertEqual(shown(ignored)["status_number"], 3)
        self.check(run("message", "retry", task, "--topic", "orders"), 2, "^$", "not both")

    def test_many_are_ended_after_a_question(self):
        for i in range(3):
            record(f"many-{i}", group="many")
        self.check(run("message", "ignore", "--group", "many", "--dry-run"), 0, "^$",
                   "3 PENDING messages; nothing was done")
        self.check(run("message", "ignore", "--group", "many"), 2, "^$", "--yes")
        self.check(run("message", "ignore", "--yes"), 2, "^$", "choose by --topic.*or say --all")
        self.check(run("message", "ignore", "--all", "--dry-run"), 0, "^$", r"\d+ PENDING messages; nothing was done")
        self.check(run("message", "ignore", "--group", "many", "--limit", "2", "--yes"), 0, "^$", "2 ignored")
        self.check(run("message", "processed", "--group", "many", "--yes"), 0, "^$", "1 marked as processed")
        self.check(run("message", "retry", "--status", "IGNORED", "--yes"), 2, "^$", "have ended")

    def test_they_are_summed_up_and_cleaned_up(self):
        pending, processed = record("sum-1"), record("sum-2")
        run("message", "processed", processed)
        self.check(run("message", "summary"), 0,
                   r"(?s)PENDING +\d.*success rate +[\d.]+ %.*Newest that wait for a person\n")
        self.check(run("message", "clean"), 2, "^$", "--yes")
        self.check(run("message", "clean", "--yes"), 0, "^$", "^0 messages deleted")
        self.check(run("message", "clean", "--processed-older-than", "0s", "--yes"), 0, "^$",
                   "messages? deleted")
        self.check(run("message", "show", processed), 3)
        self.assertEqual(shown(pending)["status"], "PENDING")

    def test_sources_are_shown_with_their_trouble(self):
        until = time.monotonic() + PATIENCE
        while b"away" not in run("message", "sources").stdout or b"127.0.0.1" not in run("message", "sources").stdout:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        sources = json.loads(run("message", "sources", "--json").stdout)["items"]
        self.assertEqual([one["name"] for one in sources], ["nowhere"])
        self.assertFalse(sources[0]["connected"])

    def test_the_doctor_takes_a_broker_that_is_away_for_as_bad_as_a_database(self):
        trouble = r"BROKEN +message source nowhere: {}.*127.0.0.1.*\n +-> {}"
        until = time.monotonic() + PATIENCE
        while b"BROKEN" not in (seen := run("doctor")).stdout:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        self.check(seen, 1, trouble.format("its broker cannot be used: ", "look at its broker: the server tries again"))
        self.check(run("doctor", "--config", str(MESSAGES.config)), 1,
                   trouble.format("", "start the broker, or correct its url and topic; the server itself goes on"))


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        MESSAGES.stop()
