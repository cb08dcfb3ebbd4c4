"""A real SMTP server that keeps the mails it receives."""

import contextlib
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from aiosmtpd.controller import Controller

from support.servers.processes import free_port


class MailServer:
    """Accepts every mail into `mails`, or answers with `refusal`, such as `451 Try again later`."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refusal = ""
        port = free_port()
        self._controller = Controller(self, hostname="127.0.0.1", port=port)
        self.url = f"mailto://127.0.0.1:{port}?from=frepo@example.org&to=ops@example.org&mode=insecure&format=text"
        self._controller.start()

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refusal:
            return self.refusal
        self.mails.append(BytesParser(EmailMessage, policy=email.policy.default).parsebytes(envelope.content))
        return "250 OK"

    def stop(self) -> None:
        self._controller.stop()


@contextlib.contextmanager
def mail_server() -> Iterator[MailServer]:
    server = MailServer()
    try:
        yield server
    finally:
        server.stop()
