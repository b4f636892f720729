"""Runs a consumer's example against its broker: three orders in, three reserved, two of them by a retry.

    try_messages.py EXAMPLE PUBLISHER BROKER [KAFKA_MOCK_CLUSTER]
"""
import os
import subprocess
import sys

example, publisher, broker = sys.argv[1:4]
topic = f"orders.{os.getpid()}"
mock = None
if broker == "kafka":
    mock = subprocess.Popen([sys.argv[4]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    url = "kafka://" + mock.stdout.readline().strip()
    mock.stdin.write(f"topic {topic} 1\n")
    mock.stdin.flush()
    mock.stdout.readline()
else:
    url = os.environ.get(f"RECOURSE_TEST_{broker.upper()}", "")
    if not url:
        sys.exit("start the brokers with ./dev test")
try:
    bodies = ['{"id": "o-%d", "amount": 1}' % i for i in (1, 2, 3)]
    subprocess.run([publisher, url, topic, *bodies], check=True, timeout=60)
    done = subprocess.run([example, url, topic], stdout=subprocess.PIPE, text=True, timeout=100)
finally:
    if mock:
        mock.kill()
print(done.stdout)
assert done.returncode == 0, done.returncode
assert "3 of 3 orders are reserved" in done.stdout
assert done.stdout.count("message_consume_failed") == 2, "the first two calls of the service fail"
assert done.stdout.count("PROCESSED after") == 2
