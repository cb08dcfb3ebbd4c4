"""A machine burns at any moment under load, and its database is recovered from the storage alone."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict

import pytest

from frepo_core import assemble
from frepo_core.db import migrations
from frepo_core.errors import NotFoundError
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.services.base.failpoints import ENVIRONMENT, JOURNAL_POINTS
from support.paths import ROOT
from support.reliability.invariants import eventually
from support.scale import IS_BIG, first_of

pytestmark = pytest.mark.costly

SCRIPT = ROOT / "tests/support/siege/burning_service.py"
MOMENTS = 50 if IS_BIG else 1


@pytest.fixture
def ini(fresh_database_url, ini):
    """The settings, after the database of the new machine was made: that empties the old one."""
    return ini


@pytest.fixture
def burn(ini, tmp_path, migrated):
    """Run a service under load, kill it after some seconds, and return what it has acknowledged."""
    ledger = tmp_path / "ledger"
    if ini["database.url"] == f"sqlite:///{tmp_path}/frepo.db":
        shutil.copy(migrated, tmp_path / "frepo.db")  # migrating takes longer than the fire

    def burn(seconds, point=""):
        (tmp_path / "given.json").write_text(json.dumps({"ini": ini, "ledger": str(ledger)}))
        before = read(ledger)
        with (tmp_path / "output").open("w") as output:
            process = subprocess.Popen(
                [sys.executable, SCRIPT, tmp_path / "given.json"],
                env={"PATH": os.environ["PATH"], ENVIRONMENT: point},
                stdout=output,
                stderr=output,
            )
        try:
            if point:
                assert process.wait(60) == -signal.SIGKILL, (tmp_path / "output").read_text()
            else:
                assert eventually(lambda: count(read(ledger), "added") > count(before, "added") + 9, 60)
                time.sleep(seconds)
                assert process.poll() is None, (tmp_path / "output").read_text()
        finally:
            process.kill()
            process.wait()
        return read(ledger)

    return burn


def read(ledger):
    """Return the complete lines of a ledger."""
    text = ledger.read_text() if ledger.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def count(lines, op):
    return sum(line["op"] == op for line in lines)


def check(services, lines, reaches):
    """Compare a recovered service with a ledger; return how many versions were compared."""
    history = defaultdict(dict)
    for line in lines:
        if "number" in line:
            history[line["collection"], line["number"]][line["op"]] = line
    compared = 0
    stored = {
        (collection, version.number): version
        for collection in {place[0] for place in history}
        for version in find_versions(services, collection)
    }
    for place, ops in history.items():
        assert "deleted" not in ops or ops["deleted"]["at"] > reaches or place not in stored
        if ops["added"]["at"] > reaches or "deleting" in ops:
            continue
        version = stored[place]
        backend = services.backends.get(version.file.blob.storage)
        content = backend.path(version.file.blob.key).read_bytes()
        assert ops["added"]["digest"] == version.file.blob.digest == hashlib.sha256(content).hexdigest()
        assert version.file.requested_name == f"dump-v{place[1]}.sql"
        assert ops["added"]["locked_until"] == (version.locked_until and version.locked_until.isoformat())
        if (pin := ops.get("pinned")) and pin["at"] <= reaches:
            until = version.pinned_until and version.pinned_until.isoformat()
            assert (True, pin["until"], pin["reason"]) == (version.pinned, until, version.pin_reason)
        compared += 1
    return compared


def find_versions(services, collection):
    try:
        return services.versions.list(collection)
    except NotFoundError:  # it was made after the last part of the journal
        return []


def recover(ini, url, plugins):
    """Recover an empty database; return its services and up to when it has everything (Unix time)."""
    services = assemble(ini | {"database.url": url}, {}, plugins)
    migrations.upgrade(services.database.engine)
    with services.feature(RecoveryServices).recovery("local", lambda text: None) as recovery:
        source = recovery.find()
        report = recovery.run(source, with_tokens=True)
    assert (0, ()) == (report.missing, source.problems)
    assert "versions without a collection" not in {name for name, number in report.counts.items() if number}
    return services, source.reaches.timestamp()


@pytest.mark.databases(*first_of(["postgresql", "sqlite"]))
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_what_was_acknowledged_before_the_last_part_is_recovered(burn, ini, plugins, fresh_database_url, moment):
    lines = burn(random.Random(moment).uniform(0.3, 2.0))

    services, reaches = recover(ini, fresh_database_url, plugins)

    try:
        assert check(services, lines, reaches) > 0
        [token] = [line["token"] for line in lines if line["op"] == "token"]
        assert services.tokens.identify(token, address="127.0.0.1", user_agent="")
    finally:
        services.database.engine.dispose()


@pytest.mark.parametrize("point", first_of(JOURNAL_POINTS))
def test_a_service_that_was_killed_while_it_wrote_the_journal_goes_on(burn, ini, plugins, fresh_database_url, point):
    burn(0, point)
    lines = burn(1)

    services, reaches = recover(ini, fresh_database_url, plugins)

    try:
        assert check(services, lines, reaches) > 0
    finally:
        services.database.engine.dispose()
