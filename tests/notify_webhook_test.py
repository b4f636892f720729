"""Webhooks and chats against a real receiver; signatures are verified by the reference implementation of
Standard Webhooks. NOTE-5, NOTE-7."""

import base64
import hashlib
import hmac
import json
import sys
import unittest
from urllib.parse import parse_qs, urlsplit

from notify_support import CERTIFICATE, PATIENCE, REFERENCE, STRANGER, Driven, Receiver, Silence, free_port

sys.path.insert(0, REFERENCE)
from standardwebhooks import Webhook, WebhookVerificationError  # noqa: E402  (its folder is an argument)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def verify(headers: dict[str, str], body: str, secret: str = SECRET) -> dict:
    """What the reference implementation takes for the payload. Raises where it does not believe the signature."""
    return Webhook(secret).verify(body, headers)


class WebhookTest(unittest.TestCase):
    def test_signature_is_good_for_the_reference_implementation(self):
        with Receiver() as receiver:
            self.assertTrue(Driven("webhook", url=receiver.url, secret=SECRET, error='ä "quoted" \n line').sent)
        _, headers, body = receiver.requests[0]
        payload = verify(headers, body)
        self.assertEqual(payload["type"], "recourse.notice.dead_letter")
        self.assertEqual(payload["data"]["last_error"], 'ä "quoted" \n line')
        self.assertRaises(WebhookVerificationError, verify, headers, body + " ")
        stranger = "whsec_" + base64.b64encode(b"x" * 24).decode()
        self.assertRaises(WebhookVerificationError, verify, headers, body, stranger)

    def test_cloud_event_is_signed_too(self):
        with Receiver() as receiver:
            self.assertTrue(Driven("webhook", url=receiver.url, secret=SECRET, cloud_events="yes").sent)
        _, headers, body = receiver.requests[0]
        verify(headers, body)
        self.assertTrue(headers["content-type"].startswith("application/cloudevents+json"))
        event = json.loads(body)
        self.assertEqual({"specversion", "id", "source", "type"} - set(event), set())

    def test_id_stays_the_same_over_all_tries(self):
        with Receiver((500, "oh"), (503, "oh"), (200, "ok")) as receiver:
            went = Driven("webhook", url=receiver.url, secret=SECRET)
        self.assertTrue(went.sent, went.said)
        self.assertEqual({headers["webhook-id"] for _, headers, _ in receiver.requests}, {"ntc_1"})
        self.assertEqual(len(receiver.requests), 3)

    def test_500_fails_after_three_tries(self):
        with Receiver((500, "no room at the inn")) as receiver:
            went = Driven("webhook", url=receiver.url)
        self.assertRegex(went.said, r"^failed 3 it answered 500: no room at the inn")
        self.assertGreater(went.took, 0.6)

    def test_refusal_is_not_tried_again(self):
        with Receiver((401, "who are you")) as receiver:
            self.assertRegex(Driven("webhook", url=receiver.url).said, r"^failed 1 it answered 401: who are you")
        self.assertEqual(len(receiver.requests), 1)

    def test_hanging_server_takes_its_time_and_no_more(self):
        with Silence() as silence:
            went = Driven("webhook", url=f"http://localhost:{silence.port}/secret-path", timeout="200ms")
        self.assertRegex(went.said, r"^failed 3 http://localhost:\d+: no answer within 200ms")
        self.assertNotIn("secret", went.said)
        self.assertLess(went.took, 10)

    def test_unreachable_host(self):
        went = Driven("webhook", url=f"http://localhost:{free_port()}/secret-path")
        self.assertRegex(went.said, r"^failed 3 http://localhost:\d+: ")
        self.assertNotIn("secret", went.said)
        went = Driven("webhook", url="http://no-such-host.invalid/secret-path")
        self.assertRegex(went.said, r"^failed 3 http://no-such-host.invalid:80: ")

    def test_certificates_are_verified(self):
        with Receiver(with_tls=True) as receiver:
            self.assertTrue(Driven("webhook", url=receiver.url, authorities=CERTIFICATE).sent)
            for authorities in ({}, {"authorities": STRANGER}):
                went = Driven("webhook", url=receiver.url, **authorities)
                self.assertRegex(went.said, r"^failed 1 https://localhost:\d+: .*certificate")
        self.assertEqual(len(receiver.requests), 1)


class ChatTest(unittest.TestCase):
    def test_slack_gets_its_blocks(self):
        with Receiver() as receiver:
            self.assertTrue(Driven("slack", url=receiver.url, error="<!channel>", link="https://a.example/t").sent)
        message = json.loads(receiver.requests[0][2])
        self.assertEqual([block["type"] for block in message["blocks"]],
                         ["header", "section", "section", "section", "section"])
        self.assertIn("dead letter", message["text"].lower())

    def test_feishu_can_check_our_signature(self):
        with Receiver((200, '{"code":0,"msg":"success"}')) as receiver:
            self.assertTrue(Driven("feishu", url=receiver.url, secret="s3cret").sent)
        message = json.loads(receiver.requests[0][2])
        key = f"{message['timestamp']}\ns3cret".encode()
        self.assertEqual(message["sign"], base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode())

    def test_dingtalk_can_check_our_signature(self):
        with Receiver((200, '{"errcode":0,"errmsg":"ok"}')) as receiver:
            self.assertTrue(Driven("dingtalk", url=receiver.url, secret="SECabc").sent)
        query = parse_qs(urlsplit(receiver.requests[0][0]).query)
        text = f"{query['timestamp'][0]}\nSECabc".encode()
        self.assertEqual(query["sign"][0], base64.b64encode(hmac.new(b"SECabc", text, hashlib.sha256).digest()).decode())
        self.assertEqual(query["key"], ["secret-key"])

    def test_wecom_says_in_a_200_what_it_refused(self):
        with Receiver((200, '{"errcode":93000,"errmsg":"invalid webhook url"}')) as receiver:
            went = Driven("wecom", url=receiver.url)
        self.assertRegex(went.said, r"^failed 1 it refused the message: 93000 invalid webhook url")
        self.assertEqual(json.loads(receiver.requests[0][2])["msgtype"], "markdown")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
