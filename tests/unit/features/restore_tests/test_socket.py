"""A box behind a socket, as the unit frepo-restore is: a process for each connection, whose standard input it is."""

import socket
import subprocess
import sys
import threading

import pytest

from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices

DUMP = b"BEGIN TRANSACTION;\nCREATE TABLE a (b);\nINSERT INTO a VALUES(1);\nCOMMIT;\n"
INSIDE = ["-s", "-P", "-B", "-m", "frepo_core.features.restore_tests.box.inside"]


@pytest.fixture
def address(tmp_path):
    return str(tmp_path / "restore.sock")


@pytest.fixture
def ini(ini, address):
    return ini | {"restore_tests.engines": "sqlite", "restore_tests.sandbox": address}


@pytest.fixture
def test(services, collection, push, restore_chosen):
    """Push a content, and restore it."""
    record = services.collections.get(collection)
    services.feature(RestoreTestServices).choices.set(record, Choice(engine="sqlite"), by=None)

    def test(content, seconds=60.0):
        push(collection, content)
        return restore_chosen(seconds)

    return test


@pytest.fixture
def listen(address):
    """Answer connections with a program, as systemd does with `Accept=yes`."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()

    def serve(command):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                subprocess.run(command, stdin=connection, check=False)

    def listen(*command):
        threading.Thread(target=serve, args=[command], daemon=True).start()

    yield listen
    server.shutdown(socket.SHUT_RDWR)
    server.close()


def test_a_version_is_restored_behind_the_socket(listen, test):
    listen(sys.executable, *INSIDE)

    assert ["good", "broken"] == [test(content).outcome for content in (DUMP, DUMP[:-8])]


def test_without_a_socket_the_result_says_what_gives_a_sandbox(test):
    result = test(DUMP)

    assert ("not checked", False) == (result.outcome, result.is_started)
    assert result.message.startswith("no sandbox: ")
    assert "systemctl enable --now frepo-restore.socket" in result.message


def test_a_box_that_ends_without_a_report_proves_nothing(listen, test):
    listen("sh", "-c", "echo '{\"ready\": true}' >&0; sleep 0.2")

    assert ("not checked", "the box ended without a report") == (test(DUMP).outcome, test(DUMP).message)


def test_a_box_that_is_silent_is_late(listen, test):
    listen("sleep", "2")

    assert "it did not end within 1s" in test(DUMP, seconds=1.0).message
