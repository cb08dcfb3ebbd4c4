"""The command INSTREAM of clamd's protocol: see `man clamd`."""

import socket

CHUNK = 1 << 16
LENGTH = 4


class ClamdError(Exception):
    """The daemon answered with an error, or with something else."""


class Scan:
    """A content on its way to clamd, at an address such as `127.0.0.1:3310`.

    It is sent in chunks, each after its length as four bytes in network order; a length of 0 ends it. `timeout` is in
    seconds. All methods raise `OSError` and `ClamdError`.
    """

    def __init__(self, address: str, timeout: float) -> None:
        host, _, port = address.rpartition(":")
        self._connection = socket.create_connection((host, int(port)), timeout)
        self._connection.sendall(b"zINSTREAM\0")

    def send(self, chunk: bytes) -> None:
        """Send the next chunk."""
        self._connection.sendall(len(chunk).to_bytes(LENGTH, "big") + chunk)

    def finish(self) -> str | None:
        """Return the name of the malware that clamd found, None if it found none."""
        self._connection.sendall(bytes(LENGTH))
        answer = self._receive()
        if answer == "stream: OK":
            return None
        if answer.startswith("stream: ") and answer.endswith(" FOUND"):
            return answer.removeprefix("stream: ").removesuffix(" FOUND")
        raise ClamdError(f"clamd answered {answer!r}")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _receive(self) -> str:
        """Return the answer up to its NUL."""
        received = b""
        while not received.endswith(b"\0"):
            data = self._connection.recv(CHUNK)
            if not data:
                raise ClamdError(f"clamd closed the connection after {received!r}")
            received += data
        return received[:-1].decode(errors="replace")
