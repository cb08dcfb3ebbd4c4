"""The command INSTREAM of clamd's protocol: see `man clamd`."""

import socket
from typing import BinaryIO

CHUNK = 1 << 16
LENGTH = 4


class ClamdError(Exception):
    """The daemon answered with an error, or with something else."""


def scan(address: tuple[str, int], content: BinaryIO, *, timeout: float) -> str | None:
    """Return the name of the malware that clamd finds in the content, None if it finds none.

    The content is sent in chunks, each after its length as four bytes in network order; a length of 0 ends it.
    `timeout` is in seconds. Raises `OSError` and `ClamdError`.
    """
    with socket.create_connection(address, timeout) as connection:
        connection.sendall(b"zINSTREAM\0")
        while chunk := content.read(CHUNK):
            connection.sendall(len(chunk).to_bytes(LENGTH, "big") + chunk)
        connection.sendall(bytes(LENGTH))
        answer = _receive(connection)
    if answer == "stream: OK":
        return None
    if answer.startswith("stream: ") and answer.endswith(" FOUND"):
        return answer.removeprefix("stream: ").removesuffix(" FOUND")
    raise ClamdError(f"clamd answered {answer!r}")


def _receive(connection: socket.socket) -> str:
    """Return the answer up to its NUL."""
    received = b""
    while not received.endswith(b"\0"):
        data = connection.recv(CHUNK)
        if not data:
            raise ClamdError(f"clamd closed the connection after {received!r}")
        received += data
    return received[:-1].decode(errors="replace")
