"""A dump of 95 MB, above the size that is checked at once: one is cut, and the service dies while it is checked."""

import base64
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import zlib

import pytest

from support.scale import only_in_long_form
from support.servers.service import BIN
from support.wire import Client, eventually

SIZE = 95_000_000
HEAD = b"--\n-- PostgreSQL database dump\n--\n\nCOPY public.picture (id, content) FROM stdin;\n"
END = b"\\.\n\n--\n-- PostgreSQL database dump complete\n--\n\n"
SECONDS = 120  # a deep check has more than a second for each 10 MB, and the tester's machine may be busy


@pytest.fixture
def dump():
    """What `pg_dump shop | gzip -1` writes."""
    chance, packer = random.Random(95), zlib.compressobj(1, wbits=31)
    packed = bytearray(packer.compress(HEAD))
    while len(packed) < SIZE:
        lines = base64.encodebytes(chance.randbytes(1 << 20))
        packed += packer.compress(lines.replace(b"\n", b"\n7\t"))
    return bytes(packed + packer.compress(b"\n" + END) + packer.flush())


@pytest.fixture
def service(start_service):
    return start_service(JOBS_INTEGRITY_DEEP="every 1s", WORKER_LEASE="2")


@pytest.fixture
def attempts(service):
    """Return how often the check of a version was tried in vain; None if it is not pending."""
    joined = "version_check JOIN version ON version.id = version_id"
    query = f"SELECT attempts FROM {joined} WHERE number = ? AND outcome = ?"
    with contextlib.closing(sqlite3.connect(service.folder / "frepo.db")) as database:
        yield lambda number: (database.execute(query, (number, "pending")).fetchone() or [None])[0]


def status(service):
    """Return the exit status of `frepo status`, and what it prints."""
    command = [str(BIN / "frepo"), "--ini", str(service.ini), "status"]
    done = subprocess.run(command, env=service.environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@only_in_long_form
@pytest.mark.slow
def test_a_cut_dump_whose_check_is_killed_is_condemned_later_and_evicts_nothing(service, attempts, dump):
    client = Client(service)
    made = client.request("POST", "/api/v1/collections", json.dumps({"name": "shop.sql.gz", "limits": {"versions": 1}}))
    path = f"/api/v1/collections/{made.json['id']}"

    def verdicts():
        found = client.request("GET", f"{path}/versions?sort=number").json["items"]
        return {one["number"]: one["verdict"] for one in found}

    assert "pending" == client.request("PUT", f"{path}/versions", dump).json["verdict"]
    assert {1: "complete"} == eventually({1: "complete"}, verdicts, seconds=SECONDS)
    assert "ok" == client.request("GET", path).json["state"]

    cut = client.request("PUT", f"{path}/versions", dump[: SIZE * 3 // 4]).json
    assert 1 == eventually(1, lambda: attempts(2), seconds=SECONDS)
    os.kill(service.pid, signal.SIGKILL)
    service.stop()

    assert ("pending", 1) == (cut["verdict"], attempts(2))
    service.environment["WORKER_IN_PROCESS"] = "false"
    service.start()
    assert {1: "complete", 2: "pending"} == verdicts()
    assert [2, 1] == [client.request("GET", f"{path}/versions/{name}").json["number"] for name in ("latest", "good")]
    assert 0 == status(service)[0]

    service.stop()
    service.environment["WORKER_IN_PROCESS"] = "true"
    service.start()

    judged = {1: "complete", 2: "broken"}
    assert judged == eventually(judged, verdicts, seconds=SECONDS)
    assert [1, 1] == [client.request("GET", f"{path}/versions/{name}").json["number"] for name in ("latest", "good")]
    assert dump == client.request("GET", f"{path}/versions/good/content").body
    assert "failed" == client.request("GET", path).json["state"]
    exit_status, said = status(service)
    assert 2 == exit_status
    assert "shop.sql.gz" in said and "failed" in said
