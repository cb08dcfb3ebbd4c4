"""Hosts as network namespaces, connected by a switch in this process that delays, loses and cuts. Linux, as root."""

import contextlib
import ctypes
import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from typing import Self

_CLONE_NEWNET = 0x40000000
_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
_TUN = Path("/dev/net/tun")
_FRAME = 1 << 16
_LIBC = ctypes.CDLL(None, use_errno=True)


def missing() -> str:
    """Return why this machine can have no such network, else an empty text."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip"):
        return "iproute2 is not installed: make services"
    try:
        os.close(os.open(_TUN, os.O_RDWR))
    except OSError as error:
        return f"{_TUN}: {error.strerror}"
    return ""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to packets in one direction: `loss` is a share, `delay` is in seconds."""

    loss: float = 0
    delay: float = 0


class Network:
    """A switch with one port for each host; `address` names a host's address, which only the hosts reach."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._prefix = f"frepo-{uuid.uuid4().hex[:8]}"
        self._ports: dict[str, int] = {}
        self._faults: dict[tuple[str, str], Fault] = {}
        self._ended = False
        self._thread = threading.Thread(target=self._forward, name="network", daemon=True)

    def __enter__(self) -> Self:
        for name in self._names:
            _run("ip", "netns", "add", self._namespace(name))
            with self.entered(name):
                self._ports[name] = _make_port(self.address(name))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._thread.join()
        for name, port in self._ports.items():
            os.close(port)
            _run("ip", "netns", "delete", self._namespace(name))

    def address(self, name: str) -> str:
        return f"10.254.77.{self._names.index(name) + 1}"

    @contextlib.contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """Let this thread, and the processes that it starts, be on a host."""
        with open(f"/proc/self/task/{threading.get_native_id()}/ns/net") as before:
            with open(f"/run/netns/{self._namespace(name)}") as namespace:
                _enter(namespace.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    def break_down(self, fault: Fault, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Let a fault happen to what the sources send to the targets."""
        self._faults |= dict.fromkeys(product(sources, targets), fault)

    def heal(self) -> None:
        self._faults = {}

    def _namespace(self, name: str) -> str:
        return f"{self._prefix}-{name}"

    def _forward(self) -> None:
        """Copy frames between the ports. A port's hardware address is known from the first frame that it sent."""
        known: dict[bytes, str] = {}
        late: list[tuple[float, int, int, bytes]] = []
        numbers, names = count(), {port: name for name, port in self._ports.items()}
        while not self._ended:
            until = min(late[0][0] - time.monotonic(), 0.1) if late else 0.1
            for port in select.select(list(names), [], [], max(until, 0))[0]:
                frame, source = os.read(port, _FRAME), names[port]
                known[frame[6:12]] = source
                target = known.get(frame[:6])
                for other in [target] if target else names.values():
                    fault = self._faults.get((source, other), Fault())
                    if other != source and random.random() >= fault.loss:
                        heapq.heappush(late, (time.monotonic() + fault.delay, next(numbers), self._ports[other], frame))
            while late and late[0][0] <= time.monotonic():
                _, _, port, frame = heapq.heappop(late)
                with contextlib.suppress(OSError):  # its queue is full: the packet is lost
                    os.write(port, frame)


def _make_port(address: str) -> int:
    """Make the network interface of the host that this thread is on; return the switch's end."""
    port = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(port, _TUNSETIFF, struct.pack("16sH", b"frepo0", _IFF_TAP | _IFF_NO_PI))
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "address", "add", f"{address}/24", "dev", "frepo0")
    _run("ip", "link", "set", "frepo0", "up")
    return port


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
