"""Every file that the client writes: for its owner alone whatever the umask, and never through somebody's link."""

import ast
import gzip
import os
import random
from pathlib import Path

import pytest

from support.paths import ROOT
from support.reliability.faulty_proxy import FaultyProxy

SOURCES = ROOT / "frepo_client/src/frepo_client"
SIZE = 4 << 20
# The only modules that open a file to write, make a temporary one, or rename one. Each file of the client goes through
# the first; the others rename what it has made, or build the client itself.
WRITERS = {
    "private_files.py": {"open", "replace"},
    "commands/enroll.py": {"replace"},
    "reporter.py": {"open"},  # /dev/null
    "restores/folder.py": {"symlink"},  # of an archive, inside the new folder
    "restores/pull.py": {"open", "replace"},
    "uploads/spool.py": {"open", "replace"},
    "uploads/whole_file.py": {"TemporaryFile"},
    "wal/fetch.py": {"replace"},
    "wal/prefetch.py": {"open"},  # /dev/null
    "zipapp.py": {"open"},
}
# What each command leaves, below the home of the user, with its mode. `*` is what differs each time.
TABLE = {
    ".config/frepo-client.toml": 0o600,
    ".config/frepo-token": 0o600,
    "token.new": 0o600,
    ".local/state/frepo-client/*.json": 0o600,
    ".local/state/frepo-client/*.lock": 0o600,
    "shop.prom": 0o644,
    "spool/*-nope.sql.dump": 0o600,
    "spool/*-nope.sql.json": 0o600,
    "restored": 0o600,
    "restored.gz": 0o600,
    ".kept.*.*.part": 0o600,
}
JOB = """
    [defaults]
    spool = "{home}/spool"
    metrics_file = "{home}/shop.prom"
    retry = "0s"
    [job.shop]
    collection = "nope.sql"
    command = ["echo", "INSERT"]
"""


def opens_to_write(call: ast.Call) -> str | None:
    """Return the name of a function that may make or rename a file, None if a call does not."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in {"replace", "rename", "link", "symlink"}:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        return name if isinstance(owner, ast.Name) and owner.id == "os" else None
    if name in {"TemporaryFile", "NamedTemporaryFile", "mkstemp", "write_text", "write_bytes"}:
        return name
    if name != "open":
        return None
    words = [word.value for word in ast.walk(call) if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    flags = {word.attr for word in ast.walk(call) if isinstance(word, ast.Attribute)}
    mode = words[-1] if words and len(words[-1]) <= 3 else ""
    return "open" if set(mode) & set("wax+") or flags & {"O_CREAT", "O_WRONLY", "O_RDWR"} else None


def test_one_module_makes_all_files():
    found = {}
    for path in SOURCES.rglob("*.py"):
        if "third_party" not in path.parts:
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            if names := {name for call in calls if (name := opens_to_write(call))}:
                found[str(path.relative_to(SOURCES))] = names

    assert found == WRITERS


@pytest.fixture
def open_umask():
    """Every file is readable and writable for all unless it is made otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_what_the_commands_write_is_for_their_owner_alone(machine, open_umask):
    home = machine.home
    code = machine.call("POST", "enrolments", {"name": "db7", "collections": [machine.collection]})["code"]
    nobody = {"XDG_CONFIG_HOME": f"{home}/.config", "FREPO_TOKEN_FILE": "", "FREPO_URL": ""}
    machine.run("enroll", machine.url, "--code", code, **nobody)
    home.joinpath("client.toml").write_text(JOB.format(home=home))
    machine.run("--config", "client.toml", "run", check=40)
    home.joinpath("dump").write_bytes(gzip.compress(b"INSERT" * 1000))
    machine.run("push", "shop.sql", "dump")
    machine.run("pull", "shop.sql", "-o", "restored")
    machine.run("pull", "shop.sql", "-o", "restored.gz")
    machine.run("token", "rotate", FREPO_TOKEN_FILE=str(home / ".config/frepo-token"))
    home.joinpath("noise").write_bytes(random.Random(7).randbytes(SIZE))
    machine.run("push", "shop.sql", "noise")
    with FaultyProxy(machine.service.address) as proxy:
        proxy.arm("cut", "down", SIZE // 2)
        machine.run("--url", proxy.url, "--retry", "0", "pull", "shop.sql", "latest", "-o", "kept", check=30)
        home.joinpath("noise").write_bytes(random.Random(8).randbytes(SIZE))
        proxy.arm("cut", "up", SIZE // 2)
        machine.run("--url", proxy.url, "--retry", "0", "push", "shop.sql", "noise", check=30)
    machine.run(
        "--url", "http://127.0.0.1:1", "--retry", "0", "token", "rotate", check=30, FREPO_TOKEN_FILE=str(home / "token")
    )
    mine = {"client.toml", "dump", "noise", "token"}

    found = {
        str(path.relative_to(home)): path.stat().st_mode & 0o777
        for path in home.rglob("*")
        if path.is_file() and path.relative_to(home).parts[0] not in mine
    }

    for name, mode in found.items():
        [expected] = [TABLE[pattern] for pattern in TABLE if Path(name).match(pattern)]
        assert expected == mode, name
    assert set(TABLE) == {pattern for pattern in TABLE for name in found if Path(name).match(pattern)}


@pytest.fixture
def victim(machine):
    """A file of somebody that must not change."""
    path = machine.home / "victim"
    path.write_text("untouched")
    return path


def test_no_planted_link_is_followed(machine, victim):
    home = machine.home
    home.joinpath("dump").write_bytes(gzip.compress(b"INSERT"))
    machine.run("push", "shop.sql", "dump")
    version = machine.versions()[0]
    state = home / ".local/state/frepo-client"
    planted = [
        home / f".restored.{version['sha256'][:16]}.part",
        home / f".restored.{version['sha256'][:16]}.00.part",
        home / ".restored.decoded",
        home / "shop.prom.new",
        home / "token.next",
        *(path.with_suffix(".json.new") for path in state.glob("*.json")),
    ]
    for path in planted:
        path.symlink_to(victim)
    home.joinpath("spool").mkdir()
    home.joinpath("spool/1-x.part").symlink_to(victim)
    home.joinpath("client.toml").write_text(JOB.format(home=home).replace("nope.sql", "shop.sql"))

    machine.run("--config", "client.toml", "run", check=11)  # smaller than the one before
    machine.run("pull", "shop.sql", "v1", "-o", "restored")
    machine.run("token", "rotate")

    assert b"INSERT" == home.joinpath("restored").read_bytes()
    assert "untouched" == victim.read_text()


def test_a_lock_is_not_taken_through_a_link(machine, victim):
    machine.run("pipe", "shop.sql", "--", "echo", "INSERT")
    for lock in (machine.home / ".local/state/frepo-client").glob("*.lock"):
        lock.unlink()
        lock.symlink_to(machine.home / "made")

    done = machine.run("pipe", "shop.sql", "--", "echo", "INSERT")

    assert b"no lock against a second run" in done.stderr
    assert not machine.home.joinpath("made").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_a_file_that_another_user_has_made_is_not_used(machine):
    home = machine.home
    home.joinpath("dump").write_text("INSERT")
    machine.run("push", "shop.sql", "dump")
    digest = machine.versions()[0]["sha256"][:16]
    spool = home / "spool"
    spool.mkdir()
    planted = [home / f".restored.{digest}.0.part", home / "token.new", spool / "1-x.dump", spool / "1-x.json"]
    for path in planted:
        path.write_text('{"collection": "shop.sql", "run": {}}' if path.suffix == ".json" else "INS")
        os.chown(path, 65534, 65534)
    home.joinpath("client.toml").write_text(JOB.format(home=home).replace("nope.sql", "shop.sql"))

    refused = machine.run("token", "rotate", check=2).stderr
    run = machine.run("--config", "client.toml", "run", check=40).stderr
    machine.run("pull", "shop.sql", "v1", "-o", "restored")

    assert b"token.new cannot be read: it is a link or belongs to another user; delete it" in refused
    assert b"1-x.dump could not be sent and stays there" in run
    assert b"belongs to another user" in run
    assert 0 == home.joinpath("restored").stat().st_uid
    assert "INSERT" == home.joinpath("restored").read_text()
    assert [path.exists() for path in planted] == [True] * 4
    assert [7, 6] == [version["size"] for version in machine.versions()]


def test_what_somebody_has_planted_as_the_metrics_file_is_not_read(machine, victim):
    """Its lines would be in a file that everybody may read, and a pipe would hold all jobs for ever."""
    home = machine.home
    home.joinpath("client.toml").write_text(JOB.format(home=home).replace("nope.sql", "shop.sql"))
    metrics = home / "shop.prom"
    metrics.symlink_to(victim)
    linked = machine.run("--config", "client.toml", "run").stderr
    metrics.unlink()
    os.mkfifo(metrics)

    piped = machine.run("--config", "client.toml", "run").stderr

    for said in (linked, piped):
        assert f"metrics_file {metrics} cannot be written: it is a link or belongs to another user".encode() in said
    assert metrics.is_fifo()
    assert [1, 2] == sorted(version["number"] for version in machine.versions())


def test_a_device_is_not_replaced_by_a_restore(machine):
    machine.run("pipe", "shop.sql", "--", "echo", "INSERT")
    pipe = machine.home / "pipe"
    os.mkfifo(pipe)

    done = machine.run("pull", "shop.sql", "-o", str(pipe), check=2)

    assert b"is not a file; write another name, or -o - for standard output" in done.stderr
    assert pipe.is_fifo()
