"""Backups of SQLite, Redis, etcd and OpenLDAP."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from support.servers.processes import free_port

from .programs import NOISE, answers, require, run, server
from .sample import Sample


def sqlite_samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield a database file, and the dump of `sqlite3`."""
    path = folder / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a BLOB)")
        rows = [(NOISE[start : start + 3000],) for start in range(0, 90_000, 3000)]
        connection.executemany("INSERT INTO t VALUES (?)", rows)
        connection.execute("DELETE FROM t WHERE rowid % 3 = 0")
    connection.close()
    yield "SQLite, the file", Sample(content=path.read_bytes(), file_name="shop.sqlite")
    dump = run("sqlite3", str(path), ".dump")
    yield "SQLite, `.dump`", Sample(content=dump, file_name="shop.sql")


def redis_samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield a database file, the same as a replica gets it, and the log."""
    client = ["redis-cli", "-s", str(folder / "socket")]
    command = ["redis-server", "--port", "0", "--unixsocket", client[-1], "--save", "", "--dir", str(folder)]
    command += ["--appendonly", "yes"]
    with server(command, folder, lambda: answers(*client, "PING", expected=b"PONG\n")):
        run(*client, "-x", "SET", "noise", data=NOISE)
        run(*client, "RPUSH", "list", "a", "b", "c")
        run(*client, "SAVE")
        streamed = run(*client, "--rdb", "-")
        log = (folder / "appendonlydir/appendonly.aof.1.incr.aof").read_bytes()
    saved = (folder / "dump.rdb").read_bytes()
    yield "Redis, RDB", Sample(content=saved, file_name="dump.rdb")
    yield "`redis-cli --rdb -`", Sample(content=streamed, file_name="dump.rdb")
    yield "Redis, AOF", Sample(content=log, file_name="appendonly.aof", has_end=False)


def etcd_samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield a snapshot."""
    own, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    client, api = ["etcdctl", f"--endpoints={own}"], {"ETCDCTL_API": "3"}
    command = ["etcd", f"--data-dir={folder}/data", f"--listen-client-urls={own}", f"--advertise-client-urls={own}"]
    command += [f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}"]
    command += [f"--initial-cluster=default={peers}"]
    with server(command, folder, lambda: answers(*client, "endpoint", "health", **api)):
        for number in range(30):
            run(*client, "put", f"key{number}", NOISE[5000 * number :][:5000].hex(), **api)
        run(*client, "snapshot", "save", "snapshot.db", folder=folder, **api)
    yield "`etcdctl snapshot save`", Sample(content=(folder / "snapshot.db").read_bytes(), file_name="snapshot.db")


def ldap_samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield the LDIF of a directory of 800 people."""
    require("slapadd")
    (folder / "data").mkdir()
    config, top = folder / "slapd.conf", "dc=example,dc=org"
    config.write_text(
        "include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\n"
        f'database mdb\nmaxsize 16777216\nsuffix "{top}"\ndirectory {folder}/data\n'
    )
    entries = [f"dn: {top}\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n"]
    for number in range(800):
        words = NOISE[number * 100 :][:60].hex()
        entries.append(
            f"dn: cn=p{number},{top}\nobjectClass: person\nsn: p{number}\ncn: p{number}\ndescription: {words}\n"
        )
    run("slapadd", "-q", "-f", str(config), data="\n".join(entries).encode())
    yield "`slapcat`", Sample(content=run("slapcat", "-f", str(config)), file_name="people.ldif", has_end=False)
