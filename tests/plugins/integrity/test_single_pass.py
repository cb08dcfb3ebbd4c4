"""Backups and archives made by the real programs: whole ones are never called broken, cut ones are."""

import gzip
import os
import shutil
import sqlite3
import subprocess

import pytest
from sqlalchemy import make_url, text

from frepo_integrity.outcomes import BrokenContent
from support.servers.processes import free_port, running_process

NOISE = bytes((number * number * 2654435761 >> 13) & 0xFF for number in range(300_000))


def run(*words, folder=None, data=None, **environment):
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed: make services")
    done = subprocess.run(words, cwd=folder, input=data, env=os.environ | environment, check=True, capture_output=True)
    return done.stdout


def server(command, folder, answers):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed: make services")
    return running_process(command, folder, answers)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A folder with files that are 300 KB together."""
    inside = tmp_path_factory.mktemp("tree") / "files"
    (inside / "sub").mkdir(parents=True)
    (inside / "noise.bin").write_bytes(NOISE)
    (inside / "sub/text.txt").write_text("a line of text\n" * 200)
    (inside / "empty").touch()
    return inside


def sqlite_file(folder, tree):
    with sqlite3.connect(folder / "a.db") as connection:
        connection.execute("CREATE TABLE t (a BLOB)")
        rows = [(NOISE[start : start + 3000],) for start in range(0, 90_000, 3000)]
        connection.executemany("INSERT INTO t VALUES (?)", rows)
        connection.execute("DELETE FROM t WHERE rowid % 3 = 0")
    connection.close()
    return (folder / "a.db").read_bytes()


def redis_rdb(folder, tree):
    socket, client = str(folder / "socket"), ["redis-cli", "-s", str(folder / "socket")]
    command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", str(folder)]

    def answers():
        return subprocess.run([*client, "PING"], capture_output=True, check=False).stdout == b"PONG\n"

    with server(command, folder, answers):
        run(*client, "-x", "SET", "noise", data=NOISE)
        run(*client, "RPUSH", "list", "a", "b", "c")
        run(*client, "SAVE")
    return (folder / "dump.rdb").read_bytes()


def etcd_snapshot(folder, tree):
    own, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    client = ["etcdctl", f"--endpoints={own}"]
    command = ["etcd", f"--data-dir={folder}/data", f"--listen-client-urls={own}", f"--advertise-client-urls={own}"]
    command += [
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
    ]

    def answers():
        return not subprocess.run(
            [*client, "endpoint", "health"], env=os.environ | api, capture_output=True, check=False
        ).returncode

    api = {"ETCDCTL_API": "3"}
    with server(command, folder, answers):
        run(*client, "put", "key", "value" * 1000, **api)
        run(*client, "snapshot", "save", "snapshot.db", folder=folder, **api)
    return (folder / "snapshot.db").read_bytes()


def cpio_with(kind):
    def archive(folder, tree):
        return run("cpio", "-o", "-H", kind, folder=tree, data=b"noise.bin\nsub\nsub/text.txt\nempty\n")

    return archive


def seven_zip(folder, tree):
    run("7zz", "a", str(folder / "a.7z"), "noise.bin", "sub", folder=tree)
    return (folder / "a.7z").read_bytes()


def squashfs(folder, tree):
    run("mksquashfs", str(tree), str(folder / "a.sqsh"), "-quiet", "-no-progress")
    return (folder / "a.sqsh").read_bytes()


def qcow2_with(*options):
    def image(folder, tree):
        raw = folder / "raw"
        raw.write_bytes(bytes(1 << 20) + NOISE + bytes(3 << 20) + NOISE[::-1] + bytes(1 << 20))
        run("qemu-img", "convert", "-O", "qcow2", *options, str(raw), str(folder / "image"))
        return (folder / "image").read_bytes()

    return image


def git_bundle_with(*options):
    def bundle(folder, tree):
        shutil.copytree(tree, folder / "repository")
        git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
        run("git", "init", "-q", *options, folder=folder / "repository")
        run(*git, "add", ".", folder=folder / "repository")
        run(*git, "commit", "-q", "-m", "all", folder=folder / "repository")
        return run("git", "bundle", "create", "-q", "-", "--all", folder=folder / "repository")

    return bundle


def gpg_with(*options):
    def message(folder, tree):
        folder.chmod(0o700)
        words = ["gpg", "--homedir", str(folder), "--batch", "--pinentry-mode", "loopback", "--passphrase", "secret"]
        return run(*words, "--symmetric", *options, data=NOISE)

    return message


MAKERS = {
    "sqlite": sqlite_file,
    "rdb": redis_rdb,
    "etcd": etcd_snapshot,
    "cpio newc": cpio_with("newc"),
    "cpio crc": cpio_with("crc"),
    "cpio odc": cpio_with("odc"),
    "sevenzip": seven_zip,
    "squashfs": squashfs,
    "qcow2": qcow2_with(),
    "qcow2 compressed": qcow2_with("-c"),
    "qcow2 version 2": qcow2_with("-o", "compat=0.10"),
    "bundle": git_bundle_with(),
    "bundle sha256": git_bundle_with("--object-format=sha256"),
    "openpgp": gpg_with(),
    "openpgp armor": gpg_with("--armor"),
}
ENDS_WITHOUT_CHECK = {
    # The last bytes of these are zeros, or the rest of a cluster that the file need not have.
    "squashfs": 4096,
    "qcow2": 64 << 10,
    "qcow2 compressed": 64 << 10,
    "qcow2 version 2": 64 << 10,
    "cpio newc": 512,
    "cpio crc": 512,
    "cpio odc": 512,
    "openpgp armor": 2,  # a line end, and one of the five hyphens
}


@pytest.fixture(scope="module", params=MAKERS)
def made(request, tmp_path_factory, tree):
    """The kind, the bytes, and how many bytes at the end may be missing."""
    content = MAKERS[request.param](tmp_path_factory.mktemp("made"), tree)
    return request.param.split()[0], content, ENDS_WITHOUT_CHECK.get(request.param, 1)


def test_a_whole_one_is_good(check, made):
    kind, content, _ = made

    assert ("good", (kind,)) == (check(content).outcome, check(content).kinds)
    assert ("gzip", kind) == check(gzip.compress(content, 1)).kinds


def test_a_cut_one_is_broken(check, made):
    kind, content, spare = made
    sizes = {len(content) * 6 // 10, len(content) - spare, max(len(content) - (64 << 10), 5000) - spare}

    for size in sizes:
        assert isinstance(check(content[:size]), BrokenContent), size
        killed = check(gzip.compress(content[:size], 1))  # the dumper was killed, the compressor ended
        assert isinstance(killed, BrokenContent) and killed.kind == kind


def test_what_follows_the_end_is_noticed(check, made):
    kind, content, _ = made
    if kind in {"qcow2", "sqlite"}:
        return  # larger than their header says is allowed

    found = check(content + b"curl: (28) timeout\n")

    assert isinstance(found, BrokenContent) or found.outcome == "not checked"


@pytest.fixture(scope="module")
def pg_dump(postgresql_server):
    """Dump a database that has tables, one of them empty, and large objects."""
    url = make_url(postgresql_server.emptied())
    with postgresql_server.engine.begin() as connection:
        connection.execute(text("CREATE TABLE custom_rows (id INTEGER PRIMARY KEY, words TEXT)"))
        connection.execute(text("CREATE TABLE custom_empty (id INTEGER)"))
        connection.execute(text("INSERT INTO custom_rows SELECT n, md5(n::text) FROM generate_series(1, 3000) n"))
        connection.execute(
            text("SELECT lo_from_bytea(0, decode(repeat('ab', 9000), 'hex')) FROM generate_series(1, 2)")
        )

    def pg_dump(*options):
        where = ["-h", url.host, "-p", str(url.port), "-U", url.username, url.database]
        return run("pg_dump", *options, *where, PGPASSWORD=url.password)

    yield pg_dump
    with postgresql_server.engine.begin() as connection:
        connection.execute(text("DROP TABLE custom_rows, custom_empty"))
        connection.execute(text("SELECT lo_unlink(oid) FROM pg_largeobject_metadata"))


@pytest.mark.parametrize("options", [[], ["-Z0"], ["--schema-only"], ["--file"]], ids=" ".join)
def test_a_dump_in_custom_format(check, pg_dump, tmp_path, options):
    if options == ["--file"]:  # seekable, so pg_dump writes down where each table is
        pg_dump("-Fc", f"--file={tmp_path}/dump")
        content = (tmp_path / "dump").read_bytes()
    else:
        content = pg_dump("-Fc", *options)

    assert ("good", ("pgdump",)) == (check(content).outcome, check(content).kinds)
    for size in (len(content) * 6 // 10, len(content) - 1, 300):
        assert isinstance(check(content[:size]), BrokenContent), size
    assert isinstance(check(content + b"pg_dump: error: connection lost"), BrokenContent)


def test_a_dump_in_tar_format(check, pg_dump):
    content = pg_dump("-Ft")

    assert "good" == check(content).outcome
    assert isinstance(check(content[: len(content) - 2000]), BrokenContent)


@pytest.fixture(scope="module")
def mariadb_backup(mariadb_server, tmp_path_factory):
    """A stream of mariadb-backup, which reads the files of the running server."""
    url = make_url(mariadb_server.emptied())
    where = ["--protocol=tcp", "-h", url.host, "-P", str(url.port), "-u", url.username, f"--password={url.password}"]
    work = tmp_path_factory.mktemp("backup")
    return run("mariadb-backup", "--no-defaults", "--backup", "--stream=xbstream", f"--target-dir={work}", *where)


def test_a_stream_of_mariadb_backup(check, mariadb_backup):
    found = check(mariadb_backup)
    last_file = mariadb_backup.rindex(b"XBSTCK01", 0, mariadb_backup.rindex(b"backup_info"))

    assert ("good", ("xbstream",)) == (found.outcome, found.kinds)
    for size in (len(mariadb_backup) * 6 // 10, len(mariadb_backup) - 1, len(mariadb_backup) - (64 << 10), last_file):
        assert isinstance(check(mariadb_backup[:size]), BrokenContent), size
    damaged = bytearray(mariadb_backup)
    damaged[len(damaged) // 2] ^= 1
    assert isinstance(check(bytes(damaged)), BrokenContent)


def test_a_dump_of_sqlite3(check, tmp_path, tree):
    sqlite_file(tmp_path, tree)
    content = run("sqlite3", str(tmp_path / "a.db"), ".dump")

    assert ("good", ("sql",)) == (check(content).outcome, check(content).kinds)
    assert isinstance(check(content[:-2]), BrokenContent)
    assert isinstance(check(content[: len(content) * 6 // 10]), BrokenContent)
    assert isinstance(check(content.replace(b"COMMIT;", b"ROLLBACK; -- due to errors")), BrokenContent)


def test_what_age_encrypted_is_not_called_good(check, tmp_path):
    run("age-keygen", "-o", "key", folder=tmp_path)
    recipient = run("age-keygen", "-y", "key", folder=tmp_path).decode().strip()
    content = run("age", "-r", recipient, data=NOISE)
    start = content.index(b"\n--- ") + 5 + content[content.index(b"\n--- ") + 5 :].index(b"\n") + 1 + 16

    assert "not checked" == check(content).outcome
    assert "not checked" == check(run("age", "-r", recipient, data=b"")).outcome
    assert isinstance(check(content[:100]), BrokenContent)
    assert isinstance(check(content[: start + (64 << 10) + 16 + 5]), BrokenContent)
