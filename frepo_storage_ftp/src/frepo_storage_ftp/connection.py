"""One FTP session: its transfers and commands."""

import contextlib
import ftplib
import ssl
import time
from collections.abc import Iterator
from socket import IPPROTO_TCP, TCP_NODELAY, socket

from .errors import DRIVER_ERRORS, UNKNOWN_COMMAND, is_not_found, reply_code
from .listing import Entry, parse_entry, parse_time
from .login import encode

CHUNK = 1 << 18
SHORT_TIMEOUT = 5.0  # seconds, for answers that are not essential
MAX_AGE = 900.0  # seconds; servers drop a TLS session after half an hour and then refuse data connections


class Connection:
    """A logged-in session in binary mode, for one thread at a time. Raises what ftplib raises."""

    def __init__(self, ftp: ftplib.FTP) -> None:
        self._opened_at = time.monotonic()
        self._ftp = ftp

    def is_usable(self) -> bool:
        """Return whether the server still answers: it may have sent 421 or closed the connection meanwhile."""
        if time.monotonic() - self._opened_at > MAX_AGE:
            return False
        with contextlib.suppress(*DRIVER_ERRORS), self._short_timeout():
            self._ftp.voidcmd("NOOP")
            return True
        return False

    def close(self) -> None:
        """Close the connection without a command to the server."""
        with contextlib.suppress(OSError):
            self._ftp.close()

    def begin(self, command: str, path: str, start: int = 0) -> socket:
        """Start a transfer (RETR, STOR, MLSD) at the byte `start` (REST); return its data connection."""
        data = self._ftp.transfercmd(f"{command} {encode(path)}", start or None)
        data.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # send the last bytes without waiting for an acknowledgement
        return data

    def finish(self, data: socket) -> None:
        """Close the data connection and wait for the server's confirmation of the transfer."""
        with data:
            if isinstance(data, ssl.SSLSocket):
                with contextlib.suppress(OSError):  # some servers send no closure alert; their reply counts
                    data.unwrap()
        self._ftp.voidresp()

    def abort(self, data: socket) -> bool:
        """Abort a transfer; return whether the connection can be used again.

        RFC 959 requires two replies to ABOR, but servers send one, two or three. The reply to a NOOP marks their end.
        """
        data.close()
        with contextlib.suppress(*DRIVER_ERRORS), self._short_timeout():
            self._ftp.putcmd("ABOR")
            self._ftp.getmultiline()
            self._ftp.putcmd("NOOP")
            return any(self._ftp.getmultiline().startswith("200") for _ in range(3))
        return False

    def pending_error(self) -> Exception | None:
        """Return the server's error reply about a broken transfer, or None if none arrives soon."""
        try:
            with self._short_timeout():
                self._ftp.voidresp()
        except ftplib.Error as error:
            return error
        except DRIVER_ERRORS:
            return None
        return None

    def listing(self, folder: str) -> bytes:
        """Return the MLSD listing of a folder."""
        received = bytearray()
        with self.begin("MLSD", folder) as data:
            while chunk := data.recv(CHUNK):
                received += chunk
            self.finish(data)
        return bytes(received)

    def entry(self, path: str) -> Entry:
        """Return size and time of a file, by MLST or else by SIZE and MDTM, which work only for files."""
        try:
            lines = self._ftp.sendcmd(f"MLST {encode(path)}").split("\n")
        except ftplib.error_perm as error:
            if reply_code(error) not in UNKNOWN_COMMAND:
                raise
        else:
            entry = parse_entry(lines[1].strip()) if len(lines) > 1 else None
            if entry and entry.kind == "file" and entry.size is not None and entry.modified is not None:
                return entry
        size = self.size(path)
        modified = parse_time(self._ftp.sendcmd(f"MDTM {encode(path)}")[4:])
        return Entry(name=path, kind="file", size=size, modified=modified)

    def size(self, path: str) -> int:
        """Return a file's size in bytes."""
        size = self._ftp.size(encode(path))
        if size is None:
            raise ftplib.error_reply(f"the server did not report the size of {path}")
        return size

    def free_space(self, folder: str) -> int | None:
        """Return the bytes that can be stored in a folder (`AVBL`), None if the server does not tell."""
        try:
            reply = self._ftp.sendcmd(f"AVBL {encode(folder)}")
        except ftplib.error_perm:  # most servers do not know the command, which is only a draft
            return None
        words = reply.split()
        is_answered = len(words) > 1 and words[0] == "213" and words[1].isascii() and words[1].isdecimal()
        return int(words[1]) if is_answered else None

    def rename(self, path: str, target: str) -> None:
        """Rename a file."""
        self._ftp.rename(encode(path), encode(target))

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        try:
            self._ftp.delete(encode(path))
        except ftplib.error_perm as error:
            if not is_not_found(error) or self._exists(path):
                raise

    def make_folder(self, path: str, mode: int | None) -> None:
        """Make one folder. A failure is ignored: usually the folder exists, otherwise the next command fails."""
        try:
            self._ftp.mkd(encode(path))
        except ftplib.error_perm:
            return
        self.set_mode(path, mode)

    def set_mode(self, path: str, mode: int | None) -> None:
        """Set the permissions (`SITE CHMOD`) unless `mode` is None."""
        if mode is not None:
            self._ftp.voidcmd(f"SITE CHMOD {mode:03o} {encode(path)}")

    def _exists(self, path: str) -> bool:
        with contextlib.suppress(ftplib.error_perm):
            self.size(path)
            return True
        return False

    @contextlib.contextmanager
    def _short_timeout(self) -> Iterator[None]:
        """Use the timeout `SHORT_TIMEOUT` for replies, if it is shorter than the usual one."""
        sock = self._ftp.sock
        if sock is None:
            raise EOFError
        usual = sock.gettimeout()
        sock.settimeout(min(SHORT_TIMEOUT, usual or SHORT_TIMEOUT))
        yield
        sock.settimeout(usual)
