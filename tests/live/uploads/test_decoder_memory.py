"""Uploads whose decoding needs much memory wait for each other, however they are sent."""

import functools
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from backports import zstd

from support.scale import IS_BIG
from support.servers.fork_server import ScriptService
from support.tus.wire_client import WireTus
from support.wire import Client, peak_memory, reset_peak_memory

pytestmark = pytest.mark.own_server  # stock waitress lends no threads

MIB = 1 << 20
UPLOADS = 50 if IS_BIG else 16
AT_MOST = 350 if IS_BIG else 330  # MiB of the process
LARGE, SMALL = 27, 23


@pytest.fixture(scope="module")
def make_service(fork_server):
    """Start services by the script, because a forked process has more in its memory."""
    return functools.partial(ScriptService, fork_server=fork_server)


@functools.cache
def hostile(window):
    """Return 432 kB that take a whole window to decode."""
    options = {zstd.CompressionParameter.window_log: window, zstd.CompressionParameter.content_size_flag: 0}
    compressor = zstd.ZstdCompressor(options=options)
    start = compressor.compress(os.urandom(400_000))
    return start + compressor.compress(bytes((1 << window) + MIB)) + compressor.flush()


def tokens(client, count):
    made = [client.request("POST", "/auth/token/generate", json.dumps({"roles": ["upload.all"]})) for _ in range(count)]
    return [Client(client.service, each.json["tokenId"]) for each in made]


@pytest.mark.costly
@pytest.mark.parametrize("windows", [(LARGE,), (SMALL,), (SMALL, LARGE)], ids=["large", "small", "both"])
def test_the_process_stays_small_while_many_send_large_windows(start_service, windows):
    service = start_service(THREADS="16", INTEGRITY_THREADS="64")
    client = Client(service)
    bodies = [hostile(windows[number % len(windows)]) for number in range(UPLOADS)]
    holders = tokens(client, 5)
    before = reset_peak_memory(service)

    def put(number):
        coded = {"Content-Encoding": "zstd"}
        path = f"/api/v1/files?name=put{number}.bin"
        return holders[number % 5].request("POST", path, bodies[number], coded).status

    def commit(number):
        tus, body = WireTus(holders[number % 5]), bodies[number]
        path = tus.create(len(body), filename=f"tus{number}.bin", headers={"Content-Encoding": "zstd"})
        return tus.patch(path, 0, body).status

    with ThreadPoolExecutor(UPLOADS) as pool:
        sent = [pool.submit(commit if number % 2 else put, number) for number in range(UPLOADS)]
        statuses = {each.result() for each in sent}

    peak = peak_memory(service)
    print(before, peak, statuses)
    assert statuses <= {200, 201, 204, 503}
    assert peak < AT_MOST
