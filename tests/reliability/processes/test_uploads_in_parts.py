"""An upload in parts ends with the right digest, whoever is killed at a random byte: the client, the service, both."""

import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.paths import ROOT
from support.reliability.faulty_proxy import FaultyProxy
from support.scale import IS_BIG
from support.wire import Client

SEED = int(os.environ.get("FREPO_SEED", "35"))
SIZE, KILLS = (2 << 30, 50) if IS_BIG else (48 << 20, 9)
PART = 16 << 20 if IS_BIG else 1 << 20
SECONDS = 600 if IS_BIG else 120
PROGRAM = ROOT / "tests/support/tus/tuspy_client.py"


class TuspyProcess:
    """tuspy as a process, which continues where it was when it is started again."""

    def __init__(self, *arguments: object, log: Path) -> None:
        self._command = [sys.executable, str(PROGRAM), *map(str, arguments)]
        self._log = log
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

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
@pytest.mark.parametrize("part", [PART, 0], ids=["parts", "one-request"])
def test_kills_at_random_bytes_lose_nothing_that_was_acknowledged(start_service, content, tmp_path, part):
    service, choose = start_service(), random.Random(SEED + part)
    collection = Client(service).collection(maxOneVersionSize=0, maxCollectionSize=0)
    with FaultyProxy(service.address) as proxy:
        state, log = tmp_path / "state.json", tmp_path / "client.log"
        client = TuspyProcess(proxy.url, service.admin, collection, content, state, part, log=log)
        for _ in range(KILLS):
            what = choose.choice(["client", "service", "both", "connection"])
            if what == "connection":
                proxy.arm("cut", "up", choose.randrange(1, 4 * (part or PART)))
            time.sleep(choose.uniform(0.05, 0.4))
            if what in {"service", "both"}:
                service.stop(9)
            if what in {"client", "both"} and client.process.poll() is None:
                client.kill()
                client.start()
            if what in {"service", "both"}:
                service.start()
        proxy.release()
        client.wait()

    versions = Client(service).request("GET", f"/api/v1/collections/{collection}/versions").json["items"]
    expected = hashlib.sha256(content.read_bytes()).hexdigest()
    assert [expected] == [one["sha256"] for one in versions]
    assert [] == list((service.storage.parent / "uploads").glob("*.part"))
