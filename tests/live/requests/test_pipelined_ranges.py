"""Parts of a large file that a client requests at once do not fill the service's memory."""

import contextlib
import socket
from urllib.parse import quote

import pytest

from support.wire import Wire, head, peak_memory, reset_peak_memory

MIB = 1 << 20
SIZE, ROUNDS, PAIRS = 200 * MIB, 10, 3


@pytest.fixture
def path(client):
    return f"/repository/file/{quote(client.upload(bytes(SIZE), 'zeros.bin').json['filename'])}"


def head_size(service, path, asked):
    with Wire(service) as wire:
        wire.send(head("GET", path, asked))
        received = b""
        while b"\r\n\r\n" not in received:
            received += wire.socket.recv(4096)
    return received.index(b"\r\n\r\n") + 4


def discard(connection):
    """Let the kernel discard the answers (MSG_TRUNC, tcp(7))."""
    received, buffer = 0, bytearray(MIB)
    with contextlib.suppress(ConnectionError, TimeoutError):
        while count := connection.recv_into(buffer, MIB, socket.MSG_TRUNC):
            received += count
    return received


@pytest.mark.costly
def test_pipelined_parts_do_not_fill_the_memory(service, path):
    """The head of the second answer is one byte longer than what is left of a turn."""
    second = f"Range: bytes=1-{SIZE - 1}"
    first_head, second_head = (head_size(service, path, asked) for asked in ("Range: bytes=1-2000000", second))
    before = reset_peak_memory(service)
    for turns in (2, 3, 4) * ROUNDS:
        length = turns * MIB - first_head - second_head + 1
        with Wire(service) as wire:
            wire.socket.settimeout(3)
            wire.send(head("GET", path, f"Range: bytes=1-{length}"), head("GET", path, second, "Connection: close"))
            discard(wire.socket)
        if (peak := peak_memory(service)) > before + SIZE // MIB // 2:
            break

    assert peak < before + SIZE // MIB // 2, f"{before} MiB before, at most {peak} MiB then"
