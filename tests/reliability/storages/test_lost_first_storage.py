"""The first storage is lost, and the second one takes its place, while the service runs: no version is lost.

The commands are those of the page of the documentation, in its order.
"""

import os
import re
import shutil
import subprocess
import threading

import pytest

from frepo_core.services.base.failpoints import ENVIRONMENT, PROMOTION_POINTS
from frepo_core.services.upkeep.storage import OwnerMark
from support.paths import ROOT
from support.reliability.invariants import Ledger, eventually
from support.reliability.recording_client import BROKEN, RecordingClient
from support.scale import first_of
from support.servers.fork_server import ForkedService

PAGE = (ROOT / "docs/second-copy.md").read_text().partition("## The first storage is lost\n")[2]
STEPS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
# An operator confirms these on a terminal.
ASK = {"storage:promote", "storage:adopt"}


@pytest.fixture
def service(tmp_path, fork_server):
    settings = {
        "STORAGES": "offsite",
        "STORAGE_OFFSITE_ADAPTER": "local",
        "STORAGE_OFFSITE_DIRECTORY": str(tmp_path / "offsite"),
        "MIRROR": "offsite",
        "MIRROR_RATE": "0",
        "FS_CACHE_SIZE": "0",
        "JOBS_MIRROR": "off",  # the test makes the copies when it wants them
    }
    service = ForkedService(tmp_path, fork_server, settings)
    service.start()
    assert eventually(lambda: all(marks(tmp_path / name) for name in ("storage", "offsite")))
    yield service
    service.stop()


def marks(folder):
    return [path for path in folder.rglob("*") if OwnerMark.parse(path.relative_to(folder).as_posix())]


def blobs(folder):
    """The contents in a storage by their files' names."""
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    own = set(marks(folder))
    return {
        path: content
        for path, content in found.items()
        if re.fullmatch("[0-9a-f]{64}-.*", path.name) and path not in own
    }


def console(service, *arguments):
    """Run a command; return its exit code and all that it says."""
    try:
        return 0, service.frepo(*arguments)
    except subprocess.CalledProcessError as error:
        return error.returncode, error.stdout + error.stderr


def do(service, step):
    """Run the commands of a step of the page; return the exit code and the answer of the last one."""
    for line in step.strip().splitlines():
        _, *arguments = line.split()
        done = console(service, *arguments, *(["--yes"] if arguments[0] in ASK else []))
    return done


def read_all(caller, collection, contents):
    """Return the versions that a client does not get as they were sent."""

    def read(number):
        where = caller.request("GET", f"/repository/collection/{collection}/backup/v{number}").headers["Location"]
        reply = caller.request("GET", where[where.index("/repository/") :])
        return reply.status, reply.body

    return [number for number, content in contents.items() if read(number) != (200, content)]


def push(caller, collection, contents, content):
    reply = caller.push(collection, content)
    if reply.status == 200:
        contents[int(reply.json["version"]["version"])] = content
    return reply.status


def empty(folder):
    """The disk was replaced by an empty one, or a thief has deleted everything."""
    shutil.rmtree(folder)
    folder.mkdir()


def damage(folder):
    """A thief with the keys has overwritten each object, marks included."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"ransom" * 10)


def unplug(folder):
    """The disk does not answer."""
    folder.rename(folder.with_name("unplugged"))
    folder.symlink_to("/proc/none")


@pytest.mark.costly
@pytest.mark.parametrize("lose", first_of([empty, damage, unplug]))
def test_the_page_about_a_lost_first_storage_is_right(service, tmp_path, lose):
    look, promote, adopt, resilver, verify = STEPS
    caller, contents = RecordingClient(service, Ledger()), {}
    collection = caller.collection(0)
    for _ in range(6):
        assert 200 == push(caller, collection, contents, os.urandom(30_000))
    service.frepo("storage:mirror")
    copies = blobs(tmp_path / "offsite")
    assert 6 == len(copies)

    lose(tmp_path / "storage")

    assert [] == read_all(caller, collection, contents), "downloads go on"
    if lose is not damage:
        assert 503 == push(caller, collection, contents, b"refused")
        code, said = do(service, look)
        assert code
        assert "local" in said
    code, said = do(service, promote)
    assert (0, True) == (code, "6 contents are read from there" in said), said
    assert 200 == push(caller, collection, contents, b"new"), "no process was restarted"
    assert [] == read_all(caller, collection, contents)
    assert copies.items() <= blobs(tmp_path / "offsite").items()
    assert "Set fs.adapter = offsite" in " ".join(console(service, "doctor", "-f", "json")[1].split())

    service.stop()
    service.environment |= {"FS_ADAPTER": "offsite", "MIRROR": "local"}
    if lose is unplug:
        (tmp_path / "storage").unlink()
    shutil.rmtree(tmp_path / "storage", ignore_errors=True)
    (tmp_path / "storage").mkdir()
    service.start()
    assert "was promoted" not in console(service, "doctor", "-f", "json")[1]
    assert 0 == do(service, adopt)[0]
    code, said = do(service, resilver)
    assert 0 == code, said
    assert 0 == do(service, verify)[0]
    assert sorted(contents.values()) == sorted(blobs(tmp_path / "storage").values())

    empty(tmp_path / "offsite")  # and now the other one
    assert [] == read_all(caller, collection, contents)


def test_a_promotion_under_load_that_is_killed_at_each_step_loses_nothing(service, tmp_path):
    contents, statuses, stop = {}, [], threading.Event()
    caller = RecordingClient(service, Ledger())
    collection = caller.collection(0)
    for _ in range(5):
        push(caller, collection, contents, os.urandom(20_000))
    service.frepo("storage:mirror")

    def load(own):
        while not stop.is_set():
            try:
                statuses.append(push(own, collection, contents, os.urandom(20_000)))
            except BROKEN:
                statuses.append(0)

    threads = [threading.Thread(target=load, args=[caller.with_own_token()]) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert eventually(lambda: len(statuses) > 5)
    for point in PROMOTION_POINTS:
        service.environment[ENVIRONMENT] = point
        assert console(service, "storage:promote", "offsite", "--yes", "--force")[0]
        del service.environment[ENVIRONMENT]
    service.stop(9)
    service.start()
    before = len(contents)
    assert eventually(lambda: len(contents) > before + 3)
    stop.set()
    for thread in threads:
        thread.join(30)

    assert [] == read_all(caller, collection, contents)
    assert 0 == console(service, "storage:promote", "offsite")[0]
    service.frepo("storage:mirror")  # what had no copy when the storage was promoted, and the new contents
    service.frepo("storage:resilver", "--to", "local")
    assert {0, 200} >= set(statuses)
    for lost in ("storage", "offsite"):  # each storage has everything
        (tmp_path / lost).rename(tmp_path / "away")
        assert [] == read_all(caller, collection, contents)
        (tmp_path / "away").rename(tmp_path / lost)
