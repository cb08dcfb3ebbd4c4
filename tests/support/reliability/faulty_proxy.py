"""A TCP proxy that cuts connections, holds them, or changes a byte, once after a number of bytes."""

import contextlib
import socket
import threading
from dataclasses import dataclass
from typing import Literal, Self

PIECE = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to the next connection on which `after` bytes have passed `up` to the service, or `down`.

    `hold` is for all such connections, until `release`; `cut` and `flip` (a bit of the last byte) happen once.
    """

    action: Literal["cut", "hold", "flip"]
    direction: Literal["up", "down"]
    after: int


class FaultyProxy:
    """Listens on a port of its own while the context is open. `url` is its address.

    `received` counts the bytes from clients, `connections` their connections.
    """

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.received = 0
        self.connections = 0
        self._fault: Fault | None = None
        self._released = threading.Event()
        self._held = threading.Semaphore(0)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.release()

    def arm(self, action: Literal["cut", "hold", "flip"], direction: Literal["up", "down"], after: int) -> None:
        """Prepare a fault. Bytes that have passed before do not count."""
        self._released = threading.Event()
        self._fault = Fault(action=action, direction=direction, after=after)

    @property
    def is_over(self) -> bool:
        """Whether the fault has happened, or none was prepared."""
        return self._fault is None

    def wait_until_held(self, count: int = 1) -> None:
        for _ in range(count):
            assert self._held.acquire(timeout=120), "no connection was held"

    def release(self) -> None:
        """Forget the fault, and close the connections that are held."""
        self._fault = None
        self._released.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        back = threading.Thread(target=self._forward, args=(server, client, "down"), daemon=True)
        back.start()
        self._forward(client, server, "up")
        back.join()
        client.close()
        server.close()

    def _forward(self, source: socket.socket, target: socket.socket, direction: str) -> None:
        armed, passed = None, 0
        try:
            while piece := source.recv(PIECE):
                fault = self._fault
                if fault is not armed:
                    armed, passed = fault, 0
                passed += len(piece)
                if direction == "up":
                    self.received += len(piece)
                if fault and fault.direction == direction and passed >= fault.after:
                    piece = self._apply(fault, piece)
                    if not piece:
                        break
                target.sendall(piece)
        except OSError:
            pass  # the other direction, or an end, was closed
        for end in (source, target):
            with contextlib.suppress(OSError):  # it was closed before
                end.shutdown(socket.SHUT_RDWR)

    def _apply(self, fault: Fault, piece: bytes) -> bytes:
        """Return what is forwarded instead of the piece; nothing if the connection ends."""
        if fault.action == "hold":
            self._held.release()
            self._released.wait()
            return b""
        with self._lock:  # only one connection has it
            if self._fault is not fault:
                return piece
            self._fault = None
        return piece[:-1] + bytes([piece[-1] ^ 1]) if fault.action == "flip" else b""
