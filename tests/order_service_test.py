#!/usr/bin/env python3
"""The example of an order service, killed and restarted, on each database: one order for each key."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

PROGRAM = sys.argv.pop(1)
ORDER = {"sku": "a-1", "amount": 2}


class Service:
    def __init__(self, store):
        self.process = subprocess.Popen([PROGRAM, store], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def post(self, key, order):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        body = order if isinstance(order, str) else json.dumps(order)
        connection.request("POST", "/orders", body, {"Idempotency-Key": key} if key else {})
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        self.reason = response.reason
        return response.status, answer, response.getheader("Idempotent-Replayed") == "true"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class OrderService(unittest.TestCase):
    def try_on(self, store):
        key = f"order-{os.getpid()}"
        service = Service(store)
        try:
            answers = []

            def place():
                status, answer, _ = service.post(key, ORDER)
                while status == 409:
                    status, answer, _ = service.post(key, ORDER)
                answers.append((status, answer["id"]))

            threads = [threading.Thread(target=place) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(set(answers)), 1, answers)
            self.assertEqual(answers[0][0], 201)
            self.assertTrue(answers[0][1].startswith("ord_"))

            self.assertEqual(service.post(key, {"sku": "a-1", "amount": 3})[0], 422)
            self.assertEqual(service.post(key, ' {"amount": 2, "sku": "a-1"} ')[1]["id"], answers[0][1])
            self.assertEqual(service.post("", ORDER)[0], 400)
            self.assertEqual(service.post(key + "-x", "no JSON")[0], 400)
            self.assertEqual(service.post(key + "-x", {"sku": "a-1"})[0], 422)
            for amount in [0, -1, 1.5, 2.0, 2**31, 2**32 + 2, 2**64 + 2, "2", None]:
                status, answer, _ = service.post(key + "-x", {"sku": "a-1", "amount": amount})
                self.assertEqual((status, "amount" in answer["detail"]), (422, True), (amount, answer))
            self.assertEqual(service.post(key + "-x", {"sku": 7, "amount": 2})[0], 422)
            self.assertEqual(service.post(key + "-x", [])[0], 422)
            status, answer, _ = service.post("k" * 256, ORDER)
            self.assertEqual((status, "create.key" in answer["detail"]), (422, True), answer)
            status, _, replayed = service.post(key + "-x", ORDER)
            self.assertEqual((status, service.reason, replayed), (201, "Created", False))
            self.assertEqual(service.post(key + "-x", ORDER)[2], True)
        finally:
            service.kill()
        service = Service(store)
        try:
            status, answer, replayed = service.post(key, ORDER)
            self.assertEqual((status, answer["id"], replayed), (201, answers[0][1], True))
        finally:
            service.kill()

    def test_sqlite(self):
        with tempfile.TemporaryDirectory() as folder:
            self.try_on(f"sqlite:{folder}/orders.db")

    def test_postgres(self):
        server = os.environ["RECOURSE_TEST_POSTGRES"]
        database = f"orders_{os.getpid()}"
        subprocess.run(["psql", "--quiet", f"--dbname={server}", "-c", f"CREATE DATABASE {database}"], check=True)
        self.try_on(urllib.parse.urlsplit(server)._replace(path=f"/{database}").geturl())

    def test_mariadb(self):
        url = urllib.parse.urlsplit(os.environ["RECOURSE_TEST_MARIADB"])
        database = f"orders_{os.getpid()}"
        socket = urllib.parse.parse_qs(url.query)["socket"][0]
        user = urllib.parse.unquote(url.username)
        subprocess.run(["mariadb", f"--socket={socket}", f"--user={user}", "-e", f"CREATE DATABASE {database}"],
                       check=True)
        self.try_on(url._replace(path=f"/{database}").geturl())


if __name__ == "__main__":
    unittest.main()
