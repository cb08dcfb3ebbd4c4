"""An upload in parts ends with the right digest, whoever is killed at a random byte: the client, the service, both."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from frepo_uploads.receiving import STEP_BYTES
from support.paths import ROOT
from support.reliability.faulty_proxy import FaultyProxy
from support.scale import IS_BIG, first_of
from support.wire import Client

SEED = int(os.environ.get("FREPO_SEED", "35"))
SIZE, KILLS = (2 << 30, 50) if IS_BIG else (48 << 20, 9)
PART = 16 << 20 if IS_BIG else 1 << 20
SECONDS = 600 if IS_BIG else 120
# What a connection and the proxy hold on their way, and the heads of requests that ask for the offset.
ON_THE_WAY = 1 << 20
PROGRAM = ROOT / "tests/support/tus/tuspy_client.py"


class TuspyProcess:
    """tuspy as a process, which continues where it was when it is started again."""

    def __init__(self, *arguments: object, log: Path) -> None:
        self._command = [sys.executable, str(PROGRAM), *map(str, arguments)]
        self._log = log
        self.start()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def kill(self) -> None:
        self.process.kill()
        assert -signal.SIGKILL == self.process.wait(), "there was nothing to kill"

    def wait(self) -> None:
        assert 0 == self.process.wait(SECONDS), self._log.read_text()[-2000:]


@pytest.fixture
def content(tmp_path):
    path = tmp_path / "content.bin"
    made = random.Random(SEED)
    with path.open("wb") as file:
        for _ in range(SIZE >> 20):
            file.write(made.randbytes(1 << 20))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("part", first_of([PART, 0]), ids=first_of(["parts", "one-request"]))
def test_a_kill_at_a_random_byte_costs_at_most_one_part(start_service, content, tmp_path, part):
    service, choose = start_service(), random.Random(SEED + part)
    collection = Client(service).collection(maxOneVersionSize=0, maxCollectionSize=0)
    with FaultyProxy(service.address) as proxy:
        state, log = tmp_path / "state.json", tmp_path / "client.log"
        client = TuspyProcess(proxy.url, service.admin, collection, content, state, part, log=log)
        for moment in sorted(choose.randrange(SIZE * 9 // 10) for _ in range(KILLS)):
            wait_for_bytes(proxy, moment, client)
            what = choose.choice(["client", "service", "both", "connection"])
            if what == "connection":
                proxy.arm("cut", "up", 1)
            if what in {"service", "both"}:
                service.stop(signal.SIGKILL)
            if what in {"client", "both"}:
                client.kill()
                client.start()
            if what in {"service", "both"}:
                service.start()
        client.wait()

    versions = Client(service).request("GET", f"/api/v1/collections/{collection}/versions").json["items"]
    expected = hashlib.sha256(content.read_bytes()).hexdigest()
    assert [expected] == [one["sha256"] for one in versions]
    assert [] == list((service.storage.parent / "uploads").glob("*.part"))
    assert proxy.received <= SIZE + KILLS * ((part or STEP_BYTES) + ON_THE_WAY)


def wait_for_bytes(proxy, count, client):
    """Wait until the client has sent so many bytes, those that were lost included."""
    deadline = time.monotonic() + SECONDS
    while proxy.received < count:
        assert client.is_running, "the client has ended"
        assert time.monotonic() < deadline, f"{proxy.received} bytes came, and no more"
        time.sleep(0.001)
