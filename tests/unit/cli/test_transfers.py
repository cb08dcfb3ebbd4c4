"""Bars of uploads and downloads, and files that are whole or not there."""

import errno
import os
from io import BytesIO, StringIO

import pytest

from frepo_core.cli.transfers import streams
from frepo_core.cli.transfers.streams import MeteredStream, TransferBar, source, target
from frepo_core.errors import FieldsError


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes one second at each look."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(streams.time, "monotonic", lambda: float(next(seconds)))


def test_a_bar_on_a_terminal_stays_on_one_line(clock):
    stream = Terminal()
    with TransferBar("upload", 4000, stream) as bar:
        bar.add(1000)
        bar.add(3000)

    shown = stream.getvalue()
    assert (shown.count("\n"), shown[-1]) == (1, "\n")
    assert "upload [#######                       ] 1.00 kB of 4.00 kB, 1.00 kB/s, 00:00:03 left" in shown
    assert f"[{'#' * 30}] 4.00 kB of 4.00 kB" in shown


def test_elsewhere_there_is_a_line_every_ten_seconds_and_no_control_character(clock):
    stream = StringIO()
    with TransferBar("upload", None, stream) as bar:
        for _ in range(25):
            bar.add(1000)

    assert stream.getvalue().splitlines() == ["upload: 10.0 kB, 1.00 kB/s", "upload: 20.0 kB, 1.00 kB/s"]


def test_a_metered_stream_counts_what_is_read(clock):
    stream = Terminal()
    with TransferBar("upload", 6, stream) as bar:
        assert b"abcdef" == MeteredStream(BytesIO(b"abcdef"), bar).read()

    assert "6 bytes of 6 bytes" in stream.getvalue()


def test_an_upload_from_a_terminal_names_the_argument(monkeypatch):
    monkeypatch.setattr(streams.sys, "stdin", Terminal())

    with pytest.raises(FieldsError) as refusal, source("-"):
        pass

    assert ["<file>"] == list(refusal.value.fields)


@pytest.mark.parametrize("replaces", [False, True])
def test_a_file_gets_its_name_at_the_end(tmp_path, replaces):
    with target(str(tmp_path / "dump"), replaces=replaces) as file:
        file.write(b"half")
        assert not (tmp_path / "dump").exists()
        file.write(b" and half")

    assert (tmp_path / "dump").read_bytes() == b"half and half"
    assert (tmp_path / "dump").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failed_download_leaves_no_file(tmp_path, error):
    with pytest.raises(error), target(str(tmp_path / "dump"), replaces=False) as file:
        file.write(b"half")
        raise error

    assert [] == list(tmp_path.iterdir())


def test_a_failed_download_keeps_the_file_that_it_would_replace(tmp_path):
    (tmp_path / "dump").write_text("old")

    with pytest.raises(RuntimeError), target(str(tmp_path / "dump"), replaces=True) as file:
        file.write(b"half")
        raise RuntimeError

    assert (tmp_path / "dump").read_text() == "old"


def test_a_file_that_was_made_meanwhile_is_not_replaced(tmp_path):
    with pytest.raises(FieldsError), target(str(tmp_path / "dump"), replaces=False):
        (tmp_path / "dump").write_text("another")

    assert [path.read_text() for path in tmp_path.iterdir()] == ["another"]


def test_a_file_system_without_hard_links_works(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with target(str(tmp_path / "dump"), replaces=False) as file:
        file.write(b"all")

    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"all"]


def test_a_target_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    for name in ["missing/dump", "."]:
        monkeypatch.chdir(tmp_path)

        with pytest.raises(FieldsError) as refused, target(name, replaces=True):
            raise AssertionError("not reached")

        assert repr(name) in str(refused.value.fields), name
