"""A real PostgreSQL archives into a service, is lost, and is restored as it was at a time."""

import contextlib
import shutil
import signal
import subprocess
import threading
import time

import pytest

from support.servers import postgresql
from support.servers.processes import free_port
from support.wal import cluster

pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(postgresql.MISSING is not None, reason=str(postgresql.MISSING)),
]
ARCHIVING = {"archive_mode": "on", "archive_timeout": "1", "track_commit_timestamp": "on", "wal_level": "replica"}
EXACT = "SELECT count(*), coalesce(sum(n), 0) FROM ticks"


class Shop:
    """A shop's collections in a service, and the environment of a server that archives there."""

    def __init__(self, service, machine, program):
        self.service, self.machine = service, machine
        self.base = self.create("shop.base", {})
        self.wal = self.create("shop.wal", {"strategy": "wal", "strategy_options": {"base": self.base}})
        self.files = {"frepo-client.pyz": program, "token": machine.token_file}
        self.client = f"{machine.python} ../frepo-client.pyz --token-file ../token"

    def create(self, name, values):
        made = self.machine.call("POST", "collections", {"name": name, "limits": {"versions": 0}, **values})
        self.machine.call("PUT", f"collections/{made['id']}/access/{self.machine.fingerprint}")
        return made["id"]

    @property
    def environment(self):
        return {"PATH": f"{postgresql._BIN[-1]}:/usr/bin:/bin", "FREPO_URL": self.service.url, "HOME": "/nonexistent"}

    @property
    def archiving(self):
        return {**ARCHIVING, "archive_command": f"{self.client} wal push %p %f --collection {self.wal}"}

    def cluster(self, **more):
        return cluster(self.environment, self.files, **more)

    def make_base(self, primary):
        words = [self.machine.python, "frepo-client.pyz", "--token-file", "token", "wal", "base"]
        words += ["--collection", self.base, "--", "-h", str(primary.folder), "-p", str(primary.port), "-U", "postgres"]
        primary.run(*words)

    def restore(self, copy, at=None, *more):
        """Write the folder of a cluster, as an operator does, and give it to PostgreSQL."""
        command = f"{self.client} wal fetch %f %p --collection {self.wal}"
        when = ["--at", at] if at else []
        words = ["wal:restore", self.wal, *when, "-o", str(copy.data), "--restore-command", command, "--promote", *more]
        said = self.service.frepo(*words)
        copy.give_to_server()
        return said

    def work(self):
        self.service.frepo("jobs:run", "wal")
        return self.machine.call("GET", f"collections/{self.wal}/wal")


@pytest.fixture
def shop(machine, service, program):
    return Shop(service, machine, program)


@contextlib.contextmanager
def load(primary):
    """Write rows until the block ends."""
    primary.ask("CREATE TABLE IF NOT EXISTS ticks (n bigserial, filler text)")
    is_over = threading.Event()

    def write():
        while not is_over.is_set():
            with contextlib.suppress(subprocess.CalledProcessError):
                primary.ask("INSERT INTO ticks (filler) SELECT repeat('x', 900) FROM generate_series(1, 50)")
                time.sleep(0.05)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        is_over.set()
        writer.join()


def moment(primary):
    """Return a time of the server."""
    return primary.ask("SELECT clock_timestamp()")


def state_at(primary, at):
    """Return what had been committed at a time: how many rows, and their sum."""
    where = f"WHERE pg_xact_commit_timestamp(xmin) <= '{at}'"
    return primary.ask(f"SELECT count(*), coalesce(sum(n), 0) FROM ticks {where}")


def wait_for_segments(primary, count):
    primary.wait_for(f"SELECT archived_count >= {count} FROM pg_stat_archiver")


def test_a_cluster_is_restored_exactly_as_it_was_at_a_time_under_load(shop):
    with shop.cluster() as primary, shop.cluster(is_empty=True) as copy:
        with primary.started(**shop.archiving), load(primary):
            wait_for_segments(primary, 3)
            shop.make_base(primary)
            time.sleep(1)
            at = moment(primary)
            time.sleep(2)
            expected, everything = state_at(primary, at), primary.ask(EXACT)
            primary.archive_everything()
            primary.crash()
        shutil.rmtree(primary.data)

        said = shop.restore(copy, at)
        with copy.started():
            copy.wait_for("SELECT NOT pg_is_in_recovery()")
            found = copy.ask(EXACT)

    assert expected == found != everything
    assert "Base backup: version 1" in said
    assert shop.machine.call("GET", f"collections/{shop.base}/versions")["items"][0]["verdict"] == "complete"


def test_a_service_that_cannot_be_reached_never_promotes(shop, tmp_path_factory, make_service):
    """PostgreSQL fails, and goes on where it was when the service is back."""
    with shop.cluster() as primary, shop.cluster(is_empty=True) as copy:
        with primary.started(**shop.archiving), load(primary):
            wait_for_segments(primary, 3)
            shop.make_base(primary)
            primary.archive_everything()
        shop.restore(copy)
        away = dict(copy.environment)
        copy.environment["FREPO_URL"] = f"http://127.0.0.1:{free_port()}"
        settings = (copy.data / "postgresql.auto.conf").read_text()
        (copy.data / "postgresql.auto.conf").write_text(settings.replace(" wal fetch", " --retry 1s wal fetch"))

        with copy.started(is_ready=False):
            status = copy.process.wait(120)
        log = copy.log
        copy.environment = away
        with copy.started():
            copy.wait_for("SELECT NOT pg_is_in_recovery()")
            found = copy.ask(EXACT)

    assert status != 0
    assert "selected new timeline" not in log
    assert "cannot be reached" in log
    assert int(found.partition("|")[0]) > 0


def test_a_cluster_is_restored_over_a_new_timeline(shop):
    """The machine that was restored archives on, and is lost, too."""
    with shop.cluster() as primary, shop.cluster(is_empty=True) as second, shop.cluster(is_empty=True) as third:
        with primary.started(**shop.archiving), load(primary):
            wait_for_segments(primary, 2)
            shop.make_base(primary)
            primary.archive_everything()
            primary.crash()
        shop.restore(second)
        lines = (second.data / "postgresql.auto.conf").read_text()
        (second.data / "postgresql.auto.conf").write_text(lines.replace("archive_mode = 'off'\n", ""))
        with second.started(**shop.archiving):
            second.wait_for("SELECT NOT pg_is_in_recovery()")
            with load(second):
                time.sleep(2)
                at = moment(second)
                time.sleep(2)
            expected = second.ask(
                f"SELECT count(*), sum(n) FROM ticks WHERE coalesce(pg_xact_commit_timestamp(xmin), '{at}') <= '{at}'"
            )
            second.archive_everything()

        state = shop.work()
        shop.restore(third, at)
        with third.started():
            third.wait_for("SELECT NOT pg_is_in_recovery()")
            found = third.ask(EXACT)

    assert (2, []) == (state["timeline"], state["missing"])
    assert expected == found


def test_kills_of_the_service_and_of_the_primary_lose_no_segment_that_was_acknowledged(shop, service):
    with shop.cluster() as primary, shop.cluster(is_empty=True) as copy:
        with primary.started(**shop.archiving), load(primary):
            wait_for_segments(primary, 2)
            shop.make_base(primary)
            for _ in range(3):
                time.sleep(1)
                service.stop(signal.SIGKILL)
                service.start()
            wait_for_segments(primary, 8)
            primary.crash()
        with primary.started(**shop.archiving):
            primary.archive_everything()
            expected = primary.ask(EXACT)

        state = shop.work()
        shop.restore(copy)
        with copy.started():
            copy.wait_for("SELECT NOT pg_is_in_recovery()")
            found = copy.ask(EXACT)

    assert [] == state["missing"]
    assert expected == found
    assert [] == state["problems"]


def test_a_second_cluster_with_the_same_token_is_refused(shop):
    with shop.cluster() as primary, shop.cluster() as other:
        with primary.started(**shop.archiving):
            primary.archive_everything()
        with other.started(**shop.archiving):
            other.ask("SELECT pg_switch_wal()")
            other.wait_for("SELECT failed_count > 0 FROM pg_stat_archiver")
            archived = other.ask("SELECT archived_count FROM pg_stat_archiver")
        log = other.log

    assert "0" == archived
    assert "another cluster" in log
