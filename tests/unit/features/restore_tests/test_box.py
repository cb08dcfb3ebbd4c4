"""What a content may do that runs code in the box: nothing to the service or the host. The command is a shell."""

import fcntl
import json
import os
import re
import shutil
import socket
import time
from datetime import timedelta
from pathlib import Path

import pytest

from frepo_core.db import utc_now
from frepo_core.features.restore_tests.assertions import Assertion
from frepo_core.features.restore_tests.box.messages import Report
from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices

MIB = 1 << 20


@pytest.fixture
def ini(ini, open_directory):
    limits = {"memory": str(256 * MIB), "disk": str(8 * MIB), "processes": "40"}
    limits |= {"engines": "command", "command": "sh"}
    return ini | {f"restore_tests.{name}": value for name, value in limits.items()} | {"temp_directory": open_directory}


@pytest.fixture
def attack(services, collection, push, restore_chosen):
    """Run a script in the box."""
    record = services.collections.get(collection)
    services.feature(RestoreTestServices).choices.set(record, Choice(engine="command"), by=None)

    def attack(script, seconds=20.0):
        push(collection, script.encode())
        return restore_chosen(seconds)

    return attack


SEVERAL = """import os, time
for _ in range(8):
    if not os.fork():
        x = bytearray(b"x") * (60 << 20)
        break
time.sleep(60)
"""


def python(code):
    return f"exec python3 - <<'END'\n{code}\nEND\n"


def test_it_runs_as_neither_root_nor_with_rights(attack):
    result = attack("id -u; grep -h Cap /proc/self/status; grep NoNewPrivs /proc/self/status; exit 3")

    assert "broken" == result.outcome
    uid, *capabilities, privileges = result.output.splitlines()
    assert uid == str(os.geteuid() or 65534)
    assert {"0" * 16} == {line.split()[1] for line in capabilities}
    assert "1" == privileges.split()[1]


def test_it_sees_none_of_the_service_s_files_and_processes(attack, ini, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    environment = f"/proc/{os.getpid()}/environ"
    paths = f"{secret} {tmp_path} {environment} /etc/shadow /root /home /run /var"

    result = attack(f"for path in {paths}; do test -e $path && echo seen $path; done; ls -d /proc/[0-9]*; env; exit 3")

    assert "seen" not in result.output
    assert len([line for line in result.output.splitlines() if line.startswith("/proc/")]) < 10
    assert "PHRASE" not in result.output


def test_it_writes_nowhere_else(attack):
    writes = "for path in / /usr /dev /etc /proc/sys/kernel/hostname /usr/lib; do touch $path/x && echo wrote; done"

    assert "wrote" not in attack(f"{writes} 2>/dev/null; exit 3").output


def test_it_reaches_no_network(attack):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)"

        result = attack(python(code))

        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "Connection refused" in result.message


def test_a_hanging_one_is_ended_with_all_that_it_has_started(attack):
    mark = f"30{os.getpid()}"

    result = attack(f"sleep {mark} & setsid sh -c 'sleep {mark}' & sleep {mark}", seconds=2.0)

    assert ("not checked", "the restore was ended: it did not end within 2s") == (result.outcome, result.message)
    assert [] == [each for each in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in read(each)]


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_one_that_writes_without_end_is_ended_in_time(attack):
    began = time.monotonic()

    result = attack("while :; do cat /dev/zero >&2; done", seconds=2.0)

    assert ("not checked", "the restore was ended: it did not end within 2s") == (result.outcome, result.message)
    assert time.monotonic() - began < 30


def test_one_that_forks_without_end_stays_within_its_number_of_processes(attack):
    before = len(list(Path("/proc").glob("[0-9]*")))

    result = attack("f() { f | f & }; f; sleep 300", seconds=2.0)

    assert "not checked" == result.outcome
    assert len(list(Path("/proc").glob("[0-9]*"))) < before + 30


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = bytearray(1 << 30)", "MemoryError"),
        (
            SEVERAL,
            r"it took more than 268 MB of memory \(restore_tests.memory\)",
        ),
        ("open('/box/full', 'wb').write(bytes(16 << 20))", r"File too large|\(restore_tests.disk\)"),
        (
            "import time\nfor n in range(4):\n  open(f'/box/{n}', 'wb').write(bytes(6 << 20))\ntime.sleep(60)",
            r"it wrote more than 8.39 MB \(restore_tests.disk\)",
        ),
        ("import os, time\nos.mkdir('/box/hidden'); os.chmod('/box/hidden', 0)\ntime.sleep(3)", ""),
    ],
)
def test_one_that_takes_too_much_is_ended_and_proves_nothing(attack, code, text):
    began = time.monotonic()

    result = attack(python(code))

    assert "not checked" == result.outcome or not text
    assert re.search(text, result.message)
    assert time.monotonic() - began < 60


def test_a_report_is_text_from_a_stranger():
    odd = {"outcome": "restored", "message": 3, "numbers": {"a": True, "b": 1e999, "c": 2}, "tables": {"x": "yes"}}

    report = Report.parse(json.dumps(odd).encode())

    assert ("", {"a": None, "b": None, "c": 2.0}, {"x": False}) == (report.message, report.numbers, report.tables)
    deep = b'{"outcome": "restored", "numbers": ' + b"[" * 100_000
    for line in (b"[]", b"{}", b'{"outcome": "good"}', b"\xff", deep):
        with pytest.raises(ValueError, match=r"report|decode"):
            Report.parse(line)


def test_a_number_in_a_report_that_is_too_large_is_none():
    line = b'{"outcome": "restored", "numbers": {"a": 1' + b"0" * 400 + b"}}"

    assert {"a": None} == Report.parse(line).numbers


def test_a_report_has_no_text_that_a_database_or_an_export_refuses():
    line = rb'{"outcome": "restored", "note": "a\u0000\ud800", "numbers": {"\ud800": 1}, "tables": {"\udfff": true}}'

    report = Report.parse(line)

    assert ("a\ufffd\ufffd", {"\ufffd": 1.0}, {"\ufffd": True}) == (report.note, report.numbers, report.tables)


@pytest.mark.parametrize("answer", [1e300, -1e300, 1e12])
def test_an_answer_that_is_no_time_fails_the_assertion(answer):
    asserted = Assertion(question="SELECT 1", newest_within=timedelta(days=1))

    assert "is no time" in asserted.problem(answer, arrived=utc_now(), measured=None)


def test_folders_of_services_that_were_killed_are_deleted_by_the_next_test(attack, open_directory):
    left, used, new = (Path(open_directory) / f"frepo-box-{name}" for name in ("left", "used", "new"))
    for folder in (left, used, new):
        (folder / "box").mkdir(parents=True)
        (folder / "box" / "dump").write_bytes(b"x")
    for folder in (left, used):
        os.utime(folder, (time.time() - 7200,) * 2)
    descriptor = os.open(used, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)

    attack("true")

    os.close(descriptor)
    assert [new, used] == sorted(left.parent.glob("frepo-box-*"))
    for folder in (new, used):
        shutil.rmtree(folder)
