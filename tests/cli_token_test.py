#!/usr/bin/env python3
"""Tokens: made, used and taken away.

Usage: cli_token_test.py PROGRAM [unittest argument...]
"""

import json
import subprocess
import sys
import tempfile

from cli_support import CONFIG, CliTest, Server, main, run, submit


class Tokens(CliTest):
    CONFIG = CONFIG + """
auth:
  required: true
  tokens: [{{name: root, role: admin, secret: "env:ROOT"}}]
"""
    ROOT = "rcs_" + "r" * 43

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.CONFIG, {"ROOT": cls.ROOT})

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def run_as(self, token: str, *arguments: str) -> subprocess.CompletedProcess:
        return run(*arguments, server=self.server.url,
                   environment={"RECOURSE_TOKEN": token} if token else {})

    def test_are_made_used_and_taken_away(self):
        self.check(self.run_as("", "stats"), 5, "^$", "RECOURSE_TOKEN")
        made = self.run_as(self.ROOT, "token", "create", "ci", "--role", "viewer")
        self.check(made, 0, r"^rcs_\S+\n$", r"shown once.*Its id is \S+\.")
        token = made.stdout.decode().strip()
        self.check(self.run_as(token, "task", "list"), 0)
        self.check(self.run_as(token, "task", "submit", "held"), 5, "^$", "role operator")
        listed = json.loads(self.run_as(self.ROOT, "token", "list", "--json").stdout)["items"]
        ids = [item["id"] for item in listed if item["name"] == "ci"]
        self.check(self.run_as(self.ROOT, "token", "list"), 0, "ci +viewer")
        self.check(self.run_as(self.ROOT, "token", "revoke", ids[0]), 2, err="--yes")
        self.check(self.run_as(self.ROOT, "token", "revoke", ids[0], "--yes"), 0)
        self.check(self.run_as(token, "task", "list"), 5)

    def test_are_taken_away_by_name(self):
        ids = []
        for name in ["once", "twice", "twice"]:
            made = self.run_as(self.ROOT, "token", "create", name, "--role", "viewer", "--json")
            ids.append(json.loads(made.stdout)["id"])
        revoke = ["token", "revoke", "--yes"]
        self.check(self.run_as(self.ROOT, *revoke, "once"), 0, "^$", f"once .{ids[0]}. is taken away")
        self.check(self.run_as(self.ROOT, *revoke, "once"), 3, "^$", "no token once")
        self.check(self.run_as(self.ROOT, *revoke, "twice"), 2, "^$",
                   rf"(?s)several tokens are called twice: .*({ids[1]}|{ids[2]}).*({ids[1]}|{ids[2]})")
        self.check(self.run_as(self.ROOT, *revoke, ids[1]), 0)
        self.check(self.run_as(self.ROOT, *revoke, "twice"), 0)

    def test_come_from_a_file_and_never_from_the_command_line(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(self.ROOT + "\n")
            file.flush()
            self.check(self.run_as("", "stats", "--token-file", file.name), 0)
        self.check(self.run_as("", "stats", "--token", self.ROOT), 2, err="--token-file")
        self.check(self.run_as("", "token", "create", "x", "--role", "king", "--server",
                               self.server.url), 5)
        self.check(self.run_as(self.ROOT, "token", "create", "x", "--role", "king"), 2,
                   err="^recourse: role ")


class LastAdmin(CliTest):
    def test_is_not_taken_away_by_a_slip_of_the_hand(self):
        server = Server(CONFIG)
        try:
            made = run("token", "create", "ops", "--role", "admin", server=server.url)
            self.check(made, 0)
            revoke = ["token", "revoke", "ops", "--yes"]
            self.check(run("token", "create", "ci", "--role", "viewer", server=server.url), 0)
            self.check(run(*revoke, server=server.url), 4, "^$", "(?s)last admin's.*--force")
            self.check(run("token", "create", "too", "--role", "admin", server=server.url), 0)
            self.check(run(*revoke, server=server.url), 0)
            self.check(run("token", "revoke", "too", "--yes", "--force", server=server.url), 0)
            # Without any, the door is open again.
            self.check(run("token", "revoke", "ci", "--yes", server=server.url), 0)
            self.check(run("token", "create", "ops", "--role", "admin", server=server.url), 0)
            self.check(run(*revoke, server=server.url), 0)
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
