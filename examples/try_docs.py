#!/usr/bin/env python3
"""Runs the lines of a page of docs/, as they stand there, against a real server, for ctest.

    python3 examples/try_docs.py build/release/src/app/recourse docs/api.md

Exits with 77 where curl is not installed.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap

# The server listens on a free port, in the background. No line may fail or be answered with a problem.
PRELUDE = r"""
set -euo pipefail
# A script is quicker than a reader: what is not possible yet (4) is tried again.
patiently() {
  local code
  for _ in {1..100}; do
    "$PROGRAM" "$@" && return || code=$?
    [ $code = 4 ] || break
    sleep 0.1
  done
  return $code
}
recourse() {
  if [ "$1" != serve ]; then patiently "$@"; return; fi
  "$PROGRAM" "$@" --listen 127.0.0.1:0 2> server.log & SERVER=$!
  trap 'kill $(jobs -p); wait || true' EXIT
  until URL=$(grep -o -m1 'http://127.0.0.1:[0-9]*' server.log); do sleep 0.05; done
  printf %s "$URL" > url
  export RECOURSE_SERVER=$URL
}
# It takes a URL without a user for one whose user has no name.
redis-cli() { command redis-cli --no-auth-warning -u "${REDIS/:\/\/:/://default:}" "$@"; }
curl() {
  command curl "$@" > answer; cat answer
  ! grep -q '"type":"about:blank"' answer || { echo "REFUSED: curl $*" >&2; exit 1; }
}
"""


def script_of(text):
    blocks = re.findall(r"```(sh|python)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 1, "the page has lost its lines"
    lines = [PRELUDE]
    for language, block in blocks:
        lines.append(block if language == "sh" else f"python3 - <<'PYTHON'\n{block}PYTHON\n")
    # Written for a server on its usual port; this one has another.
    script = "\n".join(lines).replace("R=http://127.0.0.1:7070", "R=$URL")
    script = script.replace('"http://127.0.0.1:7070', 'open("url").read() + "')
    # The broker of the tests has another too, and a password,
    script = script.replace("url: redis://127.0.0.1:6379/0", "url: env:REDIS")
    # and the reader's own service has another.
    return script.replace("9000", str(free_port()))


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def check_quotations(text):
    """What a page quotes (py) of the examples still stands in one of them."""
    here = pathlib.Path(__file__).parent
    examples = [path.read_text(encoding="utf-8") for path in here.glob("*.py")]
    for quoted in re.findall(r"```py\n(.*?)```", text, re.DOTALL):
        assert any(textwrap.indent(quoted, "    ") in example for example in examples), f"quoted wrongly:\n{quoted}"


def main():
    program, page = (os.path.abspath(path) for path in sys.argv[1:])
    if shutil.which("curl") is None:
        print("skipped: curl is not installed")
        sys.exit(77)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    check_quotations(text)
    script = script_of(text)
    redis = os.environ.get("RECOURSE_TEST_REDIS", "")
    if "redis-cli" in text and not redis:
        sys.exit("start the brokers with ./dev test")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RECOURSE")}
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(["bash", "-c", script], cwd=folder,
                               env={**clean, "PROGRAM": program, "REDIS": redis},
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode != 0:
        sys.exit(f"a line of {page} does not work:\n{ended.stdout}")
    ids = re.findall(r"\b[a-z]{2,10}_[0-9A-Z]{26}\b", ended.stdout)
    assert ids, f"the page's lines showed nothing that there is:\n{ended.stdout}"


if __name__ == "__main__":
    main()
