"""How often the service calls a third-party strategy for one upload, and with which data."""

import http.client
import json
from textwrap import dedent

import pytest

from support.servers.service import Service

SIZE = 2 << 20  # large enough for the server to decide before it receives the body
SOURCE = """
    import os
    from frepo_core.plugins import CollectionStrategy, StrategySpec, hookimpl

    class Recording(CollectionStrategy):
        def make_room(self, collection, incoming):
            with open(os.environ["ASKED"], "a") as asked:
                asked.write(f"{incoming.size}\\n")
            return ()

    @hookimpl
    def frepo_strategies():
        return [StrategySpec(name="recording", build=Recording)]
"""


@pytest.fixture
def asked(tmp_path):
    return tmp_path / "asked"


@pytest.fixture
def recording(tmp_path, asked):
    """A service with an installed distribution that contains the strategy `recording`."""
    site = tmp_path / "site"
    metadata = site / "acme_keep-1.2.3.dist-info"
    metadata.mkdir(parents=True)
    (site / "acme_keep.py").write_text(dedent(SOURCE))
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-keep\nVersion: 1.2.3\n")
    (metadata / "entry_points.txt").write_text("[frepo]\nkeep = acme_keep\n")
    folder = tmp_path / "service"
    folder.mkdir()
    service = Service(folder, {"PYTHONPATH": str(site), "ASKED": str(asked)})
    service.start()
    yield service
    service.stop()


@pytest.mark.costly
@pytest.mark.own_server  # stock waitress calls frepo once, when the body is complete
@pytest.mark.server
@pytest.mark.parametrize(
    ("announces", "sizes"), [(True, [SIZE, SIZE]), (False, [0, SIZE])], ids=["announced", "chunked"]
)
def test_a_strategy_is_called_twice_for_an_upload(recording, asked, announces, sizes):
    connection = http.client.HTTPConnection(recording.address)
    headers = {"X-Auth-Token": recording.admin}
    connection.request("POST", "/repository/collection", '{"filename": "a", "strategy": "recording"}', headers)
    collection = json.load(connection.getresponse())["collection"]["id"]
    body = bytes(SIZE) if announces else (bytes(SIZE // 2) for _ in range(2))

    connection.request("POST", f"/repository/collection/{collection}/backup", body, headers)

    assert connection.getresponse().status == 200
    connection.close()
    assert sizes == [int(line) for line in asked.read_text().split()]
