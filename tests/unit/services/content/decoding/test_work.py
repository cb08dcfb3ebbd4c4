"""What a byte of a coded upload can cost is bounded, whatever its frames and members look like."""

import dataclasses
import gzip
import os
import sys

import pytest
from backports import zstd

from frepo_core.services.content.decoder_memory import DecoderMemory, DecoderWait
from frepo_core.services.content.decoding import content_codings
from frepo_core.services.content.decoding.content_codings import CodingError, decoded

KIB, MIB = 1 << 10, 1 << 20
# For each byte that is sent.
MOST_CALLS, MOST_COPIED = 4, 8
SKIPPABLE = bytes.fromhex("502a4d18")


def filled(piece):
    """Return a function that repeats the piece up to a size."""
    return lambda size: piece * (size // len(piece))


def skippable(size):
    return SKIPPABLE + size.to_bytes(4, "little") + bytes(size)


def gzip_with_name(size):
    member = bytearray(gzip.compress(b"x"))
    member[3] = 8  # FNAME
    return bytes(member[:10]) + b"n" * (size - 100) + b"\0" + bytes(member[10:])


SHAPES = {
    "zstd": {
        "empty frames": filled(zstd.compress(b"")),
        "skippable frames": filled(skippable(0)),
        "skippable frames with a byte": filled(skippable(1)),
        "one skippable frame": lambda size: skippable(size - 8),
        "frames of a byte": filled(zstd.compress(b"x")),
        "frames of a line": filled(zstd.compress(b"insert into orders values (1);\n")),
        "noise": lambda size: zstd.compress(os.urandom(size)),
        "zeros": lambda size: zstd.compress(os.urandom(size)) + zstd.compress(bytes(900 * size)),
    },
    "gzip": {
        "empty members": filled(gzip.compress(b"")),
        "members of a line": filled(gzip.compress(b"insert into orders values (1);\n")),
        "one long name": gzip_with_name,
        "noise": lambda size: gzip.compress(os.urandom(size)),
        "zeros": lambda size: gzip.compress(os.urandom(size)) + gzip.compress(bytes(900 * size)),
    },
}


@pytest.fixture
def count(monkeypatch):
    """Decode a body; return how many calls that took, and how many bytes were given to a decompressor."""
    copied = []

    class Counted:
        def __init__(self, frame):
            self._frame = frame

        def __getattr__(self, name):
            return getattr(self._frame, name)

        def decompress(self, data, most):
            copied.append(len(data))
            return self._frame.decompress(data, most)

    for name, coding in list(content_codings._CODINGS.items()):
        counted = dataclasses.replace(coding, new_frame=lambda own=coding: Counted(own.new_frame()))
        monkeypatch.setitem(content_codings._CODINGS, name, counted)

    def count(body, coding, piece):
        calls = 0

        def note(frame, event, argument):
            nonlocal calls
            calls += event in {"call", "c_call"}

        pieces = (body[at : at + piece] for at in range(0, len(body), piece))
        copied.clear()
        sys.setprofile(note)
        try:
            for _ in decoded(pieces, coding, DecoderMemory(), DecoderWait(seconds=0)):
                pass
        except CodingError:
            pass
        finally:
            sys.setprofile(None)
        return calls, sum(copied)

    return count


@pytest.mark.slow
@pytest.mark.parametrize(("coding", "shape"), [(coding, shape) for coding in SHAPES for shape in SHAPES[coding]])
def test_twice_as_many_bytes_are_twice_the_work(count, coding, shape):
    bodies = [SHAPES[coding][shape](size) for size in (32 * KIB, 64 * KIB)]
    half, whole = (count(body, coding, MIB) for body in bodies)

    assert whole[0] < MOST_CALLS * len(bodies[1])
    assert whole[1] < MOST_COPIED * len(bodies[1]) + 64 * KIB
    assert whole[0] < 2.5 * half[0] + 1000
    assert whole[1] < 2.5 * half[1] + 64 * KIB


@pytest.mark.parametrize(("coding", "shape"), [("zstd", "empty frames"), ("gzip", "empty members")])
def test_many_empty_frames_are_refused_early(count, coding, shape):
    calls, _ = count(SHAPES[coding][shape](4 * MIB), coding, 16 * KIB)

    assert calls < 200_000


@pytest.mark.parametrize("coding", SHAPES)
@pytest.mark.parametrize("piece", [1, 7, 17, 300])
def test_where_pieces_end_does_not_matter(coding, piece):
    compress = {"gzip": gzip.compress, "zstd": zstd.compress}[coding]
    skipped = skippable(40) if coding == "zstd" else b""
    contents = [b"", b"a", os.urandom(300), bytes(2000), b"line\n" * 100]
    body = skipped + b"".join(compress(each) + skipped for each in contents)
    pieces = (body[at : at + piece] for at in range(0, len(body), piece))

    assert b"".join(contents) == b"".join(decoded(pieces, coding, DecoderMemory(), DecoderWait(seconds=0)))


@pytest.mark.parametrize("coding", SHAPES)
def test_every_cut_is_found(coding):
    compress = {"gzip": gzip.compress, "zstd": zstd.compress}[coding]
    body = compress(b"content" * 10)
    for end in range(len(body)):
        with pytest.raises(CodingError, match="ends before the end"):
            list(decoded([body[:end]], coding, DecoderMemory(), DecoderWait(seconds=0)))


@pytest.mark.parametrize("log", range(10, 28))
def test_the_window_is_read_from_the_head(log):
    parameter = zstd.CompressionParameter
    options = {parameter.window_log: log, parameter.content_size_flag: 0}
    compressor = zstd.ZstdCompressor(options=options)
    body = compressor.compress(b"x") + compressor.flush()

    assert 1 << log == content_codings.parse_head(body).window


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 65_791, 65_792, 1 << 20])
def test_a_single_segment_needs_its_size(size):
    body = zstd.compress(bytes(size))
    info = zstd.get_frame_info(body)
    head = content_codings.parse_head(body)

    assert size == info.decompressed_size
    assert head.window == size or head.window >= 1024


def test_memory_is_given_back_when_the_reader_stops():
    memory = DecoderMemory()
    body = zstd.compress(bytes(4 * MIB))
    found = decoded([body], "zstd", memory, DecoderWait(seconds=0))
    next(found)
    taken = memory._small._free
    found.close()

    assert taken < memory._small._free
