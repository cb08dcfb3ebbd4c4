"""A JSON body is refused for less than ten times its size in memory, whatever its shape is."""

import json
import time
from pathlib import Path

import pytest

from support.servers.fork_server import ScriptService
from support.wire import Client

MIB = 1 << 20
# Of smaller bodies, what every request takes would be a part that counts: some 300 KiB.
SIZES = [MIB, MIB // 4]
EMOJI = "\U0001f600"
# Each block of 32 KiB is returned to the system when it is freed, so that the process's memory is what is in use.
EXACT = {"MALLOC_MMAP_THRESHOLD_": "32768", "MALLOC_TRIM_THRESHOLD_": "32768", "MALLOC_ARENA_MAX": "1"}


def filled(start, piece, end):
    """Return a function that repeats the piece between start and end until a body has the wanted size."""
    return lambda size: start + piece * ((size - len(start.encode()) - len(end)) // len(piece.encode())) + end


def token(field, start, piece, end):
    return filled(f'{{"roles":["upload.all"],"data":{{"{field}":{start}', piece, f"{end}}}}}")


GENERATE, COLLECTION, ADD_BY_URL = "/auth/token/generate", "/repository/collection", "/repository/image/add-by-url"
SHAPES = {
    "a long name above many short ones": lambda size: json.dumps(
        {"k" * (size // 2): {f"{number:x}": 1 for number in range(size // 32)}}
    ),
    "many long names": lambda size: json.dumps({f"{number:01000}": 1 for number in range(size // 1100)}),
    "one long name": filled('{"', "k", '":1}'),
    "one long name of wide letters": filled('{"', EMOJI, '":1}'),
    "a long name that is known to be wrong": filled('{"data":{"', "k", '":1}}'),
    "lists in lists": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "objects in objects": lambda size: '{"a":' * (size // 7) + "1" + "}" * (size // 7),
    "a list that does not end": filled("", "[", ""),
    "many empty lists": filled('{"roles":[', "[],", "[]]}"),
    "many empty objects": filled('{"roles":[', "{},", "{}]}"),
    "many short texts": filled('{"roles":[', '"ab",', '"ab"]}'),
    "many numbers": filled('{"roles":[', "1234,", "1]}"),
    "as many long numbers as are allowed": lambda size: json.dumps({"roles": [10**450] * (size // 560)}),
    "many names": lambda size: "{" + ",".join(f'"{number}":0' for number in range(size // 12)) + "}",
    "one name many times": filled("{", '"a":1,', '"a":1}'),
    "one name many times with long texts": filled("{", f'"a":"{"x" * 600}{EMOJI}",', '"a":1}'),
    "one long number": filled('{"expires":', "1", "}"),
    "one long fraction": filled('{"expires":1.', "1", "}"),
    "one long text of escapes": filled('{"roles":["', "\\u0001", '"]}'),
    "one long text of escapes of wide letters": filled('{"roles":["', "\\ud83d\\ude00", '"]}'),
    "one wide text as a role": filled(f'{{"roles":["{EMOJI}', "a", '"]}'),
    "one wide text as an address": token("allowedIpAddresses", f'["{EMOJI}', "a", '"]'),
    "one wide text as a tag": token("tags", f'["{EMOJI}', "a", '"]'),
    "one wide text as a size": token("maxAllowedFileSize", f'"{EMOJI}', "1", '"'),
    "one wide text too long": filled(f'{{"expires":"{EMOJI}', "a", '"}'),
    "as many wide texts as are allowed": lambda size: json.dumps(
        {"roles": [EMOJI + "x" * (size // 1900 - 10)] * 1800}, ensure_ascii=False
    ),
    "a text that does not end": filled('{"expires":"', '\\"', ""),
    "many texts that do not end": filled('{"expires":"\\', '"\\', ""),
    "as many wrong roles as are allowed": lambda size: json.dumps({"roles": ["x" * (size // 1900 - 10)] * 1800}),
    "texts with U+0000": lambda size: json.dumps(
        {"roles": ["upload.all"], "data": {"tags": ["\0" * 20] * (size // 160)}}
    ),
    "one long text with U+0000": filled('{"roles":["upload.all"],"id":"', "\\u0000", '"}'),
    "not UTF-8": lambda size: '{"expires":"' + EMOJI + "a" * (size - 100) + "\udcff" + '"}',
}


@pytest.fixture(scope="module")
def service(tmp_path_factory, fork_server):
    service = ScriptService(tmp_path_factory.mktemp("large-json"), fork_server, EXACT)
    service.start()
    client = Client(service)
    for path in (GENERATE, COLLECTION, ADD_BY_URL):  # a first request imports modules and compiles statements
        client.request("POST", path, b'{"roles": 1}' * 2)
        client.request("POST", path, b'{"roles": 1}')
    yield service
    service.stop()


@pytest.mark.costly
@pytest.mark.parametrize("shape", SHAPES)
def test_a_refused_body_takes_less_than_ten_times_its_size(service, shape):
    client, factors = Client(service), {}
    for size in SIZES:
        body = SHAPES[shape](size).encode(errors="surrogateescape")
        assert 0.7 * size < len(body) <= size
        before = reset_peak(service)
        started = time.monotonic()

        reply = client.request("POST", GENERATE, body)

        assert 400 == reply.status
        assert time.monotonic() - started < 10
        assert len(reply.body) < 64 << 10
        factors[size] = (peak(service) - before) / len(body)
    print(factors)
    assert max(factors.values()) < 10


@pytest.mark.parametrize(
    ("path", "field"),
    [(COLLECTION, "maxBackupsCount"), (COLLECTION, "maxOneVersionSize"), (COLLECTION, "strategy")]
    + [(COLLECTION, "minRetention"), (COLLECTION, "onSuspicious"), (COLLECTION, "filename"), (COLLECTION, "password")]
    + [(ADD_BY_URL, "fileUrl"), (ADD_BY_URL, "fileName"), (ADD_BY_URL, "public"), (ADD_BY_URL, "sha256")],
)
def test_a_refused_text_of_wide_letters_takes_less_than_ten_times_its_size(service, path, field):
    """Python takes four bytes for each letter of it."""
    body = filled(f'{{"{field}":"{EMOJI}', "1", '"}')(MIB).encode()
    before = reset_peak(service)

    reply = Client(service).request("POST", path, body)

    assert 400 == reply.status
    assert peak(service) - before < 10 * len(body)


def reset_peak(service):
    """Reset the process's peak of memory; return its current memory in bytes."""
    Path(f"/proc/{service.pid}/clear_refs").write_text("5")
    return kibibytes(service, "VmRSS") << 10


def peak(service):
    return kibibytes(service, "VmHWM") << 10


def kibibytes(service, field):
    lines = Path(f"/proc/{service.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])
