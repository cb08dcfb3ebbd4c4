"""`frepo restore --table` and `--path`."""

import io
import os
import sqlite3
import stat
import tarfile
from pathlib import Path

import pytest

from .test_requests import SQL


def member(name, kind=tarfile.REGTYPE, target="", content=b"", mode=0o644):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode, made.size = kind, target, mode, len(content)
    return made, content


HOSTILE = (
    member("etc/nginx", tarfile.DIRTYPE, mode=0o755),
    member("etc/nginx/nginx.conf", content=b"worker;"),
    member("etc/nginx/su", content=b"set-uid", mode=0o6755),
    member("etc/nginx/good", tarfile.SYMTYPE, "nginx.conf"),
    member("etc/nginx/up", tarfile.SYMTYPE, "../hosts"),
    member("etc/nginx/out", tarfile.SYMTYPE, "../../../outside"),
    member("etc/nginx/absolute", tarfile.SYMTYPE, "/etc/passwd"),
    member("etc/nginx/deep", tarfile.SYMTYPE, "good/../../../.."),
    member("etc/nginx/hard", tarfile.LNKTYPE, "etc/hosts"),
    member("etc/nginx/device", tarfile.CHRTYPE),
    member("etc/nginx/trap", tarfile.SYMTYPE, "/tmp"),
    member("etc/nginx/trap/evil", content=b"through a link"),
    member("/etc/nginx/leading", content=b"no root"),
    member("etc/nginx/../../../evil", content=b"up"),
    member("etc/hosts", content=b"localhost"),
)


def archive(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for made, content in members:
            tar.addfile(made, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def frepo_service_settings(tmp_path):
    return {"parts.directory": str(tmp_path / "parts"), "jobs.parts": "off"}


@pytest.fixture
def restore(frepo_service, tmp_path, monkeypatch):
    """Run `frepo restore` in an empty folder; return the result."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return lambda *words: frepo_service.run("restore", *words)


@pytest.fixture
def sql(frepo_service):
    collection = frepo_service.make_collection(filename="shop.sql")
    frepo_service.push(collection, SQL)
    return collection


def test_one_table_loads_into_an_empty_database(restore, sql):
    result = restore("shop.sql", "--table", "orders")

    assert 0 == result.status, result.errors
    assert "Restored the table orders into orders.sql" in result.output
    assert "Load it: sqlite3" in result.output
    with sqlite3.connect(":memory:") as database:
        database.executescript(Path("orders.sql").read_text())
        assert [(1,), (2,)] == database.execute("SELECT * FROM orders").fetchall()
        assert [("orders",)] == database.execute("SELECT name FROM sqlite_schema").fetchall()
    database.close()


def test_a_table_that_is_not_there_names_those_that_are(restore, sql):
    missing, as_path = restore("shop.sql", "--table", "order"), restore("shop.sql", "--path", "order")

    assert 1 == missing.status == as_path.status
    assert "it has orders" in missing.errors
    assert "take --table" in as_path.errors
    assert [] == os.listdir()


def test_a_folder_is_written_and_nothing_outside_of_it(frepo_service, restore, tmp_path):
    frepo_service.push(frepo_service.make_collection(filename="etc.tar"), archive(HOSTILE))
    result = restore("etc.tar", "--path", "etc/nginx/")

    assert 0 == result.status, result.errors
    folder = tmp_path / "here/etc-v1/etc/nginx"
    written = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert {"nginx.conf", "su", "good", "up", "hard", "leading", "trap", "trap/evil"} == written
    assert 0o755 == stat.S_IMODE((folder / "su").stat().st_mode)
    assert ("nginx.conf", b"localhost") == (os.readlink(folder / "good"), (folder / "hard").read_bytes())
    assert not (folder / "trap").is_symlink()
    assert [] == [path for path in Path("/tmp").glob("evil")]
    assert {"here", "parts"} <= set(os.listdir(tmp_path))
    assert ["etc-v1"] == os.listdir()
    for name in ("out", "absolute", "deep", "device", "../evil"):
        assert f"{name}: " in result.output


def test_one_file_is_written_into_a_folder_that_is_named(frepo_service, restore):
    frepo_service.push(frepo_service.make_collection(filename="etc.tar"), archive(HOSTILE))

    assert 0 == restore("etc.tar", "--path", "etc/hosts", "--output", "out").status
    assert b"localhost" == Path("out/etc/hosts").read_bytes()
    again = restore("etc.tar", "--path", "etc/hosts", "--output", "out")
    assert (1, True) == (again.status, "nothing is written over" in again.errors)
    assert "at its top are etc" in restore("etc.tar", "--path", "var").errors
