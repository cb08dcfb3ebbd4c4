"""Lifecycles of an installed plug-in around the time in which a process serves, under both servers."""

import signal

import pytest

from support.servers.service import ROOT, Service, with_stock_server

pytestmark = pytest.mark.costly

MODULE = """
import os
from pathlib import Path
from frepo_core.plugins import Lifecycle, hookimpl

def note(word):
    with Path(os.environ["ACME_NOTES"]).open("a") as notes:
        print(word, file=notes)

def start(context):
    if "ACME_FAILS" in os.environ:
        raise SystemExit("no paint")
    note("start")
    context.log.info("started")

@hookimpl
def frepo_lifecycle():
    return Lifecycle(start=start, stop=lambda context: note("stop"))
"""


@pytest.fixture
def notes(tmp_path):
    return tmp_path / "notes"


@pytest.fixture
def make(tmp_path, notes):
    """Make a service with the plug-in installed."""
    info = tmp_path / "installed/acme_paint-1.2.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-paint\nVersion: 1.2.3\n")
    (info / "entry_points.txt").write_text("[frepo]\npaint = acme_paint\n")
    (info.parent / "acme_paint.py").write_text(MODULE)
    made = []

    def make(server, **environment):
        folder = tmp_path / "service"
        folder.mkdir()
        variables = {"PYTHONPATH": str(info.parent), "ACME_NOTES": str(notes), **environment}
        service = Service(folder, variables, ini=ROOT / "development.ini")
        if server == "stock":
            service.ini = with_stock_server(service.ini, folder, service.address)
        made.append(service)
        return service

    yield make
    for service in made:
        service.stop()


@pytest.mark.own_server
@pytest.mark.parametrize(
    ("server", "with_signal"), [("own", signal.SIGTERM), ("own", signal.SIGINT), ("stock", signal.SIGTERM)]
)
def test_a_lifecycle_starts_before_the_first_request_and_stops_at_the_end(make, notes, server, with_signal):
    service = make(server)
    service.start()
    started = notes.read_text()

    service.stop(with_signal)

    assert ("start\n", "start\nstop\n") == (started, notes.read_text())
    assert "the plug-in 'paint' of the package acme-paint 1.2.3: started" in service.log.read_text()


def test_a_lifecycle_that_cannot_start_ends_the_process(make):
    service = make("own", ACME_FAILS="1")

    with pytest.raises(RuntimeError) as caught:
        service.start()

    told = "frepo cannot start. the plug-in 'paint' of the package acme-paint 1.2.3 cannot start: SystemExit: no paint"
    assert told in str(caught.value)
    assert 1 == service.process.wait(60)


def test_console_commands_start_no_lifecycle(make, notes):
    service = make("own")

    service.frepo("install")

    assert not notes.exists()


def test_a_mistake_of_the_installation_is_reported_at_the_start(make):
    service = make("own", PLUGINS_DISABLED="pant")
    service.start()
    service.stop()

    assert "plugins.disabled names 'pant', but no installed plug-in has this name" in service.log.read_text()
