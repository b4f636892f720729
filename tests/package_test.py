#!/usr/bin/env python3
"""Tries Debian packages in a folder of their own; ./dev package runs it on what it made.

    python3 tests/package_test.py build/package/*.deb
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGES = {pathlib.Path(name).name.split("_")[0]: os.path.abspath(name) for name in sys.argv[1:]}
CONFIG = "etc/recourse/recourse.yaml"


def run(*command) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def field(package: str, name: str) -> str:
    return run("dpkg-deb", "--field", PACKAGES[package], name)


class Package(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="recourse-package-")))

    def unpack(self):
        for package in PACKAGES.values():
            run("dpkg", "--extract", package, self.root)

    def test_there_is_one_for_servers_and_one_for_builds(self):
        self.assertEqual(PACKAGES.keys(), {"recourse", "librecourse-dev"})
        self.assertRegex(field("recourse", "Depends"), r"\blibc6 \(.*\blibpq5 \(")
        self.assertRegex(field("librecourse-dev", "Depends"), r"\blibpq-dev\b")

    def test_the_program_runs_with_its_configuration(self):
        self.unpack()
        program = self.root / "usr/bin/recourse"

        self.assertEqual(run(program, "version"), f"recourse {field('recourse', 'Version')}")
        run(program, "config", "check", "--config", self.root / CONFIG)
        self.assertNotIn("not found", run("ldd", program))

    def test_the_unit_names_what_is_there(self):
        self.unpack()
        unit = self.root / "usr/lib/systemd/system/recourse.service"
        [start] = [line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")]
        _, program, _, _, config = start.replace("=", " ", 1).split()

        self.assertTrue(os.access(self.root / program.lstrip("/"), os.X_OK))
        self.assertTrue((self.root / config.lstrip("/")).exists())

    def test_a_changed_configuration_stays(self):
        if os.geteuid() != 0:
            self.skipTest("only root can install")
        (self.root / "var/lib/dpkg").mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={self.root}", "--force-script-chrootless", "--force-depends"]

        run(*dpkg, "--install", PACKAGES["recourse"])
        (self.root / CONFIG).write_text("log: {level: debug}\n")
        run(*dpkg, "--install", PACKAGES["recourse"])
        run(*dpkg, "--remove", "recourse")

        self.assertEqual((self.root / CONFIG).read_text(), "log: {level: debug}\n")
        self.assertFalse((self.root / "usr/bin/recourse").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
