"""A JSON body is refused for less than ten times its size in memory, whatever its shape is."""

import json
import time
from pathlib import Path

import pytest

from support.wire import Client

MIB = 1 << 20
# Memory of any request beyond its body: the answer, and the allocator's rounding.
ALLOWANCE = 2 * MIB
EMOJI = "\U0001f600"


def filled(start, piece, end, size=MIB - 64):
    return start + piece * ((size - len(start) - len(end)) // len(piece)) + end


SHAPES = {
    "a long name above many short ones": json.dumps({"k" * 500_000: {str(number): 1 for number in range(30_000)}}),
    "many long names": json.dumps({f"{number:01000}": 1 for number in range(900)}),
    "one long name": json.dumps({"k" * 1_000_000: 1}),
    "a long name that is known to be wrong": json.dumps({"data": {"k" * 1_000_000: 1}}),
    "lists in lists": "[" * 500_000 + "]" * 500_000,
    "objects in objects": '{"a":' * 150_000 + "1" + "}" * 150_000,
    "a list that does not end": "[" * 1_000_000,
    "many empty lists": filled('{"roles":[', "[],", "[]]}"),
    "many empty objects": filled('{"roles":[', "{},", "{}]}"),
    "many short texts": filled('{"roles":[', '"ab",', '"ab"]}'),
    "many numbers": filled('{"roles":[', "1234,", "1]}"),
    "many names": "{" + ",".join(f'"{number}":0' for number in range(90_000)) + "}",
    "one name many times": filled("{", '"a":1,', '"a":1}'),
    "one long number": filled('{"expires":', "1", "}"),
    "one long text as a role": filled('{"roles":["', "\\u0001", '"]}'),
    "one wide text as a role": filled(f'{{"roles":["{EMOJI}', "a", '"]}'),
    "one wide text as an address": filled(
        f'{{"roles":["upload.all"],"data":{{"allowedIpAddresses":["{EMOJI}', "a", '"]}}'
    ),
    "one wide text too long": filled(f'{{"expires":"{EMOJI}', "a", '"}'),
    "a text that does not end": filled('{"expires":"', '\\"', ""),
    "many texts that do not end": filled('{"expires":"\\', '"\\', ""),
    "many unknown roles": filled('{"roles":[', '"' + "x" * 600 + '",', '"x"]}'),
    "many wrong roles": json.dumps({"roles": list(range(100_000))}),
    "texts with U+0000": json.dumps({"roles": ["upload.all"], "data": {"tags": ["\0" * 100] * 1500}}),
}


@pytest.mark.own_server  # under stock waitress it was over the bound once, by 1 %; the cause is not known
@pytest.mark.parametrize("shape", SHAPES)
def test_a_refused_body_takes_less_than_ten_times_its_size(service, shape):
    body, client = SHAPES[shape].encode(), Client(service)
    assert len(body) <= MIB
    path = "/auth/token/generate"
    client.request("POST", path, b"{}")
    before = reset_peak(service)
    started = time.monotonic()

    reply = client.request("POST", path, body)

    assert 400 == reply.status
    assert time.monotonic() - started < 2
    assert len(reply.body) < 64 << 10
    assert peak(service) - before < 10 * len(body) + ALLOWANCE


def reset_peak(service):
    """Reset the process's peak of memory; return its current memory in bytes."""
    Path(f"/proc/{service.pid}/clear_refs").write_text("5")
    return kibibytes(service, "VmRSS") << 10


def peak(service):
    return kibibytes(service, "VmHWM") << 10


def kibibytes(service, field):
    lines = Path(f"/proc/{service.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])
