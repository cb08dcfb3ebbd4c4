"""The file reader that a server sends from: piece by piece, resumed at the client's position."""

import hashlib
from io import BytesIO

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from waitress.buffers import ReadOnlyFileBasedBuffer

from frepo_core.errors import StorageUnavailable
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.content.verified_reader import VerifiedFile

pytestmark = pytest.mark.databases

CONTENT = bytes(range(256)) * 4
TAKEN = st.lists(st.integers(1, 200), min_size=1, max_size=30)
CHECKSUMS = st.sampled_from([xxhash.xxh3_128(CONTENT).hexdigest(), None])


def make_buffer(content, checksum=None):
    digest = hashlib.sha256(CONTENT).hexdigest()
    size = len(CONTENT)
    blob = BlobRecord(id=1, storage="local", key="a", size=size, mime="a/b", digest=digest, checksum=checksum)
    buffer = ReadOnlyFileBasedBuffer(VerifiedFile(BytesIO(content), blob))
    buffer.prepare(len(content))
    return buffer


def send(content, taken, checksum, piece=100):
    """Send as waitress does: read a piece, skip the bytes that the socket accepted."""
    buffer, sent = make_buffer(content, checksum), b""
    while len(sent) < len(content):
        offered = buffer.get(piece)
        count = min(taken[len(sent) % len(taken)], len(offered))
        sent += offered[:count]
        buffer.skip(count, True)
    return sent


@given(taken=TAKEN, checksum=CHECKSUMS)
def test_good_bytes_are_sent_to_clients_of_any_speed(taken, checksum):
    assert CONTENT == send(CONTENT, taken, checksum)


@given(taken=TAKEN, at=st.integers(0, len(CONTENT) - 1), checksum=CHECKSUMS)
def test_damaged_bytes_are_never_sent_completely(taken, at, checksum):
    wrong = bytearray(CONTENT)
    wrong[at] ^= 1

    with pytest.raises(StorageUnavailable, match="other bytes"):
        send(bytes(wrong), taken, checksum)


def test_damaged_bytes_are_refused_at_each_attempt():
    """After an error waitress may retry once before it closes the connection."""
    buffer = make_buffer(CONTENT[:-1] + b"?")
    for _ in range(3):
        with pytest.raises(StorageUnavailable):
            buffer.get(len(CONTENT))
