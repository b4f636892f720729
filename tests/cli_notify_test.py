#!/usr/bin/env python3
"""Notifications on the command line: channels, trying them out, and what became of notices.

Usage: cli_notify_test.py PROGRAM [unittest argument...]
"""

import http.server
import json
import sys
import threading
import time

from cli_support import CONFIG, PATIENCE, CliTest, Server, main, run

CHANNELS = """
notify:
  channels:
    hook: {{type: webhook, url: "env:HOOK"}}
    refuses: {{type: webhook, url: "env:REFUSES"}}
"""


class Hook(http.server.BaseHTTPRequestHandler):
    """/hook takes what it is sent, /refuses does not; keeps the messages."""

    messages: list[dict] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/hook":
            Hook.messages.append(json.loads(body))
        self.send_response(200 if self.path == "/hook" else 403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Notify(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=cls.hook.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{cls.hook.server_port}"
        cls.server = Server(CONFIG + CHANNELS, {"HOOK": url + "/hook", "REFUSES": url + "/refuses"})

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.hook.shutdown()

    def run_here(self, *arguments: str):
        return run(*arguments, server=self.server.url)

    def test_channels_and_what_they_sent(self):
        self.check(self.run_here("notify", "channels"), 0,
                   r"NAME +TYPE +CONDITION +SENT.*\n(?s:.*)hook +webhook +ok +\d")
        self.check(self.run_here("notify", "channels", "-q"), 0, "^log\nhook\nrefuses\n$")
        self.check(self.run_here("notify", "channels", "--json"), 0, '"enabled":true')

    def test_a_message_is_tried_out(self):
        done = self.run_here("notify", "test", "hook", "--text", "Is this the right room?")
        self.check(done, 0, "^$", "hook took it")
        self.assertEqual(Hook.messages[-1]["data"]["event"], "test")
        self.assertEqual(Hook.messages[-1]["data"]["last_error"], "Is this the right room?")
        self.check(self.run_here("notify", "test", "log", "--json"), 0, '"sent":true')

    def test_a_channel_that_fails_says_why(self):
        self.check(self.run_here("notify", "test", "refuses"), 6, "^$", "^recourse: .*403")
        self.check(self.run_here("notify", "test", "hok"), 3, "^$", "there are: log, hook, refuses")
        self.check(self.run_here("notify", "test"), 2, "^$", "channel")

    def test_what_became_of_notices(self):
        self.check(self.run_here("task", "submit", "bad", "--wait"), 1)
        task = json.loads(self.run_here("dead", "list", "--json").stdout)["items"][0]["id"]
        listing = ("notify", "deliveries", "--task", task)
        end = time.monotonic() + PATIENCE
        while json.loads(self.run_here(*listing, "--json").stdout)["items"] == []:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        self.check(self.run_here(*listing), 0, rf"WHEN.*\n.*sent +log +dead_letter +bad +{task} +1")
        self.check(self.run_here(*listing, "--result", "failed"), 0, "^$", "No such notices")
        self.check(self.run_here("notify", "deliveries", "--channel", "log", "-q"), 0, f"^{task}\n$")
        self.check(self.run_here("notify", "deliveries", "--result", "lost"), 2, "^$",
                   "sent, failed, suppressed")

    def test_help_begins_with_examples(self):
        for verb in ["channels", "test", "deliveries"]:
            self.check(run("notify", verb, "--help"), 0, r"^[^\n]+\n\n  recourse notify ")


if __name__ == "__main__":
    sys.exit(main())
