"""Mail against a real server, by STARTTLS and by TLS from the start, with passwords. NOTE-7."""

import email
import email.policy
import sys
import unittest

from notify_support import CERTIFICATE, PASSWORD, STRANGER, USER, Driven, MailServer, Silence, free_port

LOGIN = {"user": USER, "password": PASSWORD, "authorities": CERTIFICATE, "from": "Recourse <recourse@example.org>",
         "to": "Ops <ops@example.org>"}


class EmailTest(unittest.TestCase):
    def check_mail(self, server: MailServer, went: Driven):
        self.assertTrue(went.sent, went.said)
        self.assertEqual(server.box.users, [USER.encode()])
        sender, receivers, content = server.box.mails[0]
        self.assertEqual((sender, receivers), ("recourse@example.org", ["ops@example.org"]))
        return email.message_from_bytes(content, policy=email.policy.default)

    def test_starttls_with_text_and_html_that_say_the_same(self):
        with MailServer("starttls") as server:
            mail = self.check_mail(server, Driven("email", url=server.url, error="失败 <script>alert(1)</script>\n.\nend",
                                                  link="https://recourse.example/t?a=1&b=2", **LOGIN))
        self.assertEqual(mail["Subject"], "Recourse [error] Dead letter: grant-points (and 7 more)")
        self.assertEqual(mail["To"], "Ops <ops@example.org>")
        self.assertEqual(mail.get_content_type(), "multipart/alternative")
        text = mail.get_body(("plain",)).get_content()
        html = mail.get_body(("html",)).get_content()
        self.assertIn("失败 <script>alert(1)</script>\n.\nend", text.replace("\r\n", "\n"))
        self.assertIn("https://recourse.example/t?a=1&b=2", text)
        self.assertIn("失败 &lt;script&gt;", html)
        self.assertNotIn("<script>", html)
        self.assertIn('href="https://recourse.example/t?a=1&amp;b=2"', html)

    def test_tls_from_the_start(self):
        with MailServer("smtps") as server:
            mail = self.check_mail(server, Driven("email", url=server.url, **LOGIN))
        self.assertEqual(mail.defects, [])

    def test_message_id_follows_from_the_notice(self):
        with MailServer("starttls") as server:
            for notice in ("one", "one", "two"):
                self.assertTrue(Driven("email", url=server.url, **{**LOGIN, "id": notice}).sent)
            ids = [email.message_from_bytes(mail[2])["Message-ID"] for mail in server.box.mails]
        self.assertEqual(ids[0], ids[1])
        self.assertNotEqual(ids[0], ids[2])

    def test_no_header_can_be_injected(self):
        with MailServer("starttls") as server:
            self.assertTrue(Driven("email", url=server.url, **{
                **LOGIN, "kind": "x\r\nBcc: evil@example.org\r\n\r\nbody", "id": "y\nBcc: evil@example.org"}).sent)
            mail = email.message_from_bytes(server.box.mails[0][2])
        self.assertIsNone(mail["Bcc"])
        self.assertTrue(mail.is_multipart())

    def test_wrong_password_is_said_and_not_tried_again(self):
        with MailServer("starttls") as server:
            went = Driven("email", url=server.url, **{**LOGIN, "password": "wrong"})
        self.assertRegex(went.said, r"^failed 1 localhost: it refused user name or password")
        self.assertNotIn("wrong", went.said)
        self.assertEqual(server.box.mails, [])

    def test_nothing_is_sent_without_tls(self):
        with MailServer("plain") as server:
            went = Driven("email", url=server.url, **LOGIN)
        self.assertRegex(went.said, r"^failed 1 localhost: it offers no STARTTLS")
        self.assertEqual(server.box.users + server.box.mails, [])

    def test_certificates_are_verified(self):
        for mode in ("starttls", "smtps"):
            with MailServer(mode) as server:
                went = Driven("email", url=server.url, **{**LOGIN, "authorities": STRANGER})
                self.assertRegex(went.said, r"^failed 1 localhost: .*certificate")
                self.assertEqual(server.box.users + server.box.mails, [])

    def test_refused_recipient(self):
        with MailServer("starttls", refuse="550 no such user") as server:
            went = Driven("email", url=server.url, **LOGIN)
        self.assertRegex(went.said, r"^failed 1 localhost: ")
        with MailServer("starttls", refuse="450 try later") as server:
            self.assertRegex(Driven("email", url=server.url, **LOGIN).said, r"^failed 3 localhost: ")

    def test_silent_and_absent_servers_take_bounded_time(self):
        with Silence() as silence:
            for scheme in ("smtp", "smtps"):
                went = Driven("email", url=f"{scheme}://localhost:{silence.port}", timeout="200ms", **LOGIN)
                self.assertRegex(went.said, r"^failed 3 localhost: it was not done within 200ms")
                self.assertLess(went.took, 10)
        went = Driven("email", url=f"smtp://localhost:{free_port()}", **LOGIN)
        self.assertRegex(went.said, r"^failed 3 localhost: ")

    def test_settings_that_cannot_work_are_refused(self):
        for wrong in ({"url": "http://localhost"}, {"url": "smtp://a:b@localhost"}, {"to": "nonsense"},
                      {"from": "a@b\nBcc: c@d"}, {"password": ""}):
            went = Driven("email", **{"url": "smtp://localhost", **LOGIN, **wrong})
            self.assertEqual(went.code, 1)
            self.assertRegex(went.said, r"^email\.")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
