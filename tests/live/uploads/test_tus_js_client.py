"""tus-js-client, the client of tus in browsers and Node.js, against a real service."""

import hashlib
import os
import random
import subprocess

import pytest

from support.paths import ROOT
from support.reliability.faulty_proxy import FaultyProxy
from support.scale import first_of
from support.tus.wire_client import digests

TOOLS = ROOT / ".venv-clients"
MODULES = TOOLS / "typescript/node_modules"
PROGRAM = ROOT / "tests/support/tus/tus_js_client.cjs"
CONTENT = random.Random(36).randbytes(3 << 20)
DIGEST = hashlib.sha256(CONTENT).hexdigest()

pytestmark = pytest.mark.skipif(
    not (MODULES / "tus-js-client").exists(), reason="tus-js-client is not installed: make services"
)


@pytest.fixture
def collection(client):
    return client.collection()


@pytest.fixture
def upload(service, collection, tmp_path):
    """Upload the content through an address, in parts of this size; return how often the client tried again."""
    file = tmp_path / "content.bin"
    file.write_bytes(CONTENT)

    def upload(url, part):
        arguments = [TOOLS / "bin/node", PROGRAM, url, service.admin, collection, file, part]
        environment = {"PATH": os.environ["PATH"], "NODE_PATH": str(MODULES)}
        command = [str(argument) for argument in arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert 0 == done.returncode, done.stderr
        return int(done.stdout)

    return upload


@pytest.mark.parametrize("part", first_of([0, 1 << 20]))
def test_it_uploads_a_version(service, client, collection, upload, part):
    retries = upload(service.url, part)

    assert (0, [DIGEST]) == (retries, digests(client, collection))


@pytest.mark.parametrize("part", first_of([0, 1 << 20]))
def test_it_continues_after_a_cut_connection(service, client, collection, upload, part):
    with FaultyProxy(service.address) as proxy:
        proxy.arm("cut", "up", 1_500_000 if part == 0 else 800_000)
        retries = upload(proxy.url, part)
        is_over = proxy.is_over

    assert is_over
    assert retries >= 1
    assert [DIGEST] == digests(client, collection)
