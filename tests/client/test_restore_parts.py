"""`frepo-client restore --table` and `--path`: one table, one file or one folder, without the rest of the backup."""

import io
import json
import lzma
import os
import sqlite3
import stat
import subprocess
import tarfile

import pytest

from support.reliability.faulty_proxy import FaultyProxy

SQL = b"""PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE orders (id INTEGER);
INSERT INTO orders VALUES(1);
INSERT INTO orders VALUES(2);
CREATE TABLE gone (id INTEGER);
COMMIT;
"""


def member(name, kind=tarfile.REGTYPE, target="", content=b"", mode=0o644):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode, made.size = kind, target, mode, len(content)
    return made, content


HOSTILE = (
    member("etc/nginx", tarfile.DIRTYPE, mode=0o755),
    member("etc/nginx/nginx.conf", content=b"first"),
    member("etc/nginx/nginx.conf", content=b"worker;"),
    member("etc/nginx/su", content=b"set-uid", mode=0o6755),
    member("etc/nginx/good", tarfile.SYMTYPE, "nginx.conf"),
    member("etc/nginx/up", tarfile.SYMTYPE, "../hosts"),
    member("etc/nginx/out", tarfile.SYMTYPE, "../../../outside"),
    member("etc/nginx/absolute", tarfile.SYMTYPE, "/etc/passwd"),
    member("etc/nginx/deep", tarfile.SYMTYPE, "good/../../../.."),
    member("etc/nginx/hard", tarfile.LNKTYPE, "etc/hosts"),
    member("etc/nginx/lost", tarfile.LNKTYPE, "etc/missing"),
    member("etc/nginx/device", tarfile.CHRTYPE),
    member("etc/nginx/trap", tarfile.SYMTYPE, "/tmp"),
    member("etc/nginx/trap/evil", content=b"through a link"),
    member("/etc/nginx/leading", content=b"no root"),
    member("etc/nginx/../../../evil", content=b"up"),
    member("etc/nginx/empty", content=b""),
    member("etc/hosts", content=b"localhost"),
)


def archive(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for made, content in members:
            tar.addfile(made, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def store(machine):
    """Store a content as the next version of the collection of the machine."""

    def store(content):
        machine.home.joinpath("content").write_bytes(content)
        machine.run("push", "shop.sql", "content")

    return store


def test_one_table_of_the_version_that_is_named_loads_into_an_empty_database(machine, store):
    store(SQL)
    store(SQL.replace(b"VALUES(2)", b"VALUES(3)"))

    done = machine.run("restore", "shop.sql", "--table", "orders", "--version", "1")

    assert "load it: sqlite3 DATABASE < orders.sql" in done.stderr.decode()
    restored = machine.home / "orders.sql"
    assert 0o600 == stat.S_IMODE(restored.stat().st_mode)
    with sqlite3.connect(":memory:") as database:
        database.executescript(restored.read_text())
        assert [(1,), (2,)] == database.execute("SELECT * FROM orders").fetchall()
        assert [("orders",)] == database.execute("SELECT name FROM sqlite_schema").fetchall()
    database.close()
    shown = machine.run("restore", "shop.sql", "--table", "orders", "-o", "-").stdout
    assert (True, False) == (b"VALUES(3)" in shown, b"gone" in shown)


def test_a_table_is_found_by_its_schema_and_several_of_one_name_are_listed(machine, store):
    head = "--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 17.0\n\n"
    tables = "".join(
        f"CREATE TABLE {schema}.orders (\n    id integer\n);\n\n\n"
        f"COPY {schema}.orders (id) FROM stdin;\n{number}\n\\.\n\n\n"
        for number, schema in enumerate(("public", "sales"))
    )
    store(f"{head}{tables}--\n-- PostgreSQL database dump complete\n--\n\n".encode())

    several = machine.run("restore", "shop.sql", "--table", "orders", check=2).stderr.decode()
    found = machine.run("restore", "shop.sql", "--table", "sales.orders", "-o", "-").stdout

    assert "public.orders, sales.orders" in several
    assert (True, False) == (b"COPY sales.orders" in found, b"public.orders" in found)


def test_what_is_not_there_names_what_is(machine, store):
    store(SQL)
    missing = machine.run("restore", "shop.sql", "--table", "order", check=2).stderr.decode()
    as_path = machine.run("restore", "shop.sql", "--path", "order", check=2).stderr.decode()
    store(archive(HOSTILE))
    as_table = machine.run("restore", "shop.sql", "--table", "orders", check=2).stderr.decode()
    nowhere = machine.run("restore", "shop.sql", "--path", "var/log", check=2).stderr.decode()

    assert "it has gone, orders" in missing
    assert "take --table" in as_path
    assert "take --path" in as_table
    assert "at its top are .., etc" in nowhere or "at its top are etc" in nowhere
    assert {"content", "token"} >= {name for name in os.listdir(machine.home) if not name.startswith(".")}


def test_what_has_no_list_says_why(machine, store):
    store(lzma.compress(SQL))

    refused = machine.run("restore", "shop.sql", "--version", "1", "--table", "orders", check=40).stderr.decode()

    assert "compressed as a whole by its sender" in refused


def test_a_folder_is_written_and_nothing_outside_of_it(machine, store):
    store(archive(HOSTILE))

    done = machine.run("--json", "restore", "shop.sql", "--path", "etc/nginx/")

    folder = machine.home / "shop-v1/etc/nginx"
    written = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert {"nginx.conf", "su", "good", "up", "hard", "leading", "trap", "trap/evil", "empty"} == written
    assert b"worker;" == folder.joinpath("nginx.conf").read_bytes()
    assert 0o755 == stat.S_IMODE((folder / "su").stat().st_mode)
    assert ("nginx.conf", b"localhost") == (os.readlink(folder / "good"), (folder / "hard").read_bytes())
    assert not (folder / "trap").is_symlink()
    assert {"shop-v1", "content", "token"} >= {one for one in os.listdir(machine.home) if not one.startswith(".")}
    assert ["etc"] == os.listdir(machine.home / "shop-v1")
    result = json.loads(done.stdout)
    assert (6, 1, 2) == (result["files"], result["folders"], result["links"])
    for name in ("out", "absolute", "deep", "lost", "device", ".."):
        assert any(name in one for one in result["left_out"]), name


def test_one_file_is_written_into_a_folder_that_is_new(machine, store):
    store(archive(HOSTILE))

    machine.run("restore", "shop.sql", "--path", "etc/hosts", "-o", "out")
    again = machine.run("restore", "shop.sql", "--path", "etc/hosts", "-o", "out", check=2).stderr.decode()
    as_file = machine.run("restore", "shop.sql", "--path", "etc/hosts", "-o", "-", check=2).stderr.decode()

    assert b"localhost" == (machine.home / "out/etc/hosts").read_bytes()
    assert "nothing is written over" in again
    assert "writes into a folder" in as_file


def test_a_table_goes_on_after_a_cut(machine, store):
    rows = b"".join(b"INSERT INTO orders VALUES(%d);\n" % number for number in range(20_000))
    store(SQL.replace(b"INSERT INTO orders VALUES(1);\n", rows))
    whole = machine.run("restore", "shop.sql", "--table", "orders", "-o", "-").stdout
    with FaultyProxy(machine.service.address) as proxy:
        machine.url = proxy.url
        client = machine.start("restore", "shop.sql", "--table", "orders", "-o", "cut.sql", stderr=subprocess.PIPE)
        proxy.arm("cut", "down", 200_000)
        printed = client.communicate(timeout=60)[1]

    assert (0, True) == (client.returncode, proxy.is_over), printed
    assert len(rows) < len(whole)
    assert whole == machine.home.joinpath("cut.sql").read_bytes()
