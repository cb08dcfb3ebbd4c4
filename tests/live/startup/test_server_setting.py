"""The line of the ini that names the server: the current one, the old one, and stock waitress."""

import pytest

from support.servers.service import ROOT, Service

pytestmark = pytest.mark.own_server

OWN = "use = egg:frepo-server#waitress"
LISTEN = "http_listen = 127.0.0.1:6543"


@pytest.fixture
def start_with(tmp_path):
    """Start a service whose ini names this server."""
    running = []

    def start(line):
        service = Service(tmp_path, ini=tmp_path / "frepo.ini")
        text = (ROOT / "development.ini").read_text()
        for old, new in ((OWN, f"use = {line}"), (LISTEN, f"http_listen = {service.address}")):
            assert old in text
            text = text.replace(old, new)
        service.ini.write_text(text)
        running.append(service)
        service.start()
        return service

    yield start
    for service in running:
        service.stop()


@pytest.mark.costly
def test_the_old_line_starts_the_server_and_a_warning_names_the_new_one(start_with):
    service = start_with("egg:frepo-core#waitress")

    (warning,) = [line for line in service.log.read_text().splitlines() if "WARN" in line and "frepo_core:" in line]
    assert "use = egg:frepo-server#waitress" in warning


@pytest.mark.costly
@pytest.mark.parametrize("line", ["egg:frepo-server#waitress", "egg:waitress#main"])
def test_other_lines_start_without_a_warning(start_with, line):
    assert "old name" not in start_with(line).log.read_text()
