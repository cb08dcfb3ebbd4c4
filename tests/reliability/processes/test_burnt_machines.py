"""Machines burn, and each subset of their storages survives: what is lost is said, and what is said is true."""

import csv
import itertools
import os
import re
import shutil
import sqlite3
from contextlib import closing, contextmanager

import pytest

from frepo_core import assemble
from frepo_core.domain.roles import Role
from frepo_core.features.storage_check.storage_check import READ_WITHIN, check_storages
from frepo_core.services.access.tokens import NewToken
from frepo_core.web import make_app
from frepo_server.application import hooks_of
from support.console.in_process import InProcessConsole
from support.paths import ROOT
from support.scale import IS_BIG, first_of
from support.servers.in_process import running_server
from support.siege.burnt_machine import (
    BurntMachine,
    Known,
    Ruins,
    copy_folders,
    cut_journal,
    draw_kind,
    read_all,
    read_content,
    settings_of,
)

MACHINES, STEPS, WATCHED = (50, 60, 5) if IS_BIG else (1, 30, 1)
FOLDERS = ("local", "offsite", "archive")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def in_process(make_quick_engine):
    return InProcessConsole(make_quick_engine)


@pytest.fixture
def ini(request, ini, tmp_path):
    """The settings of the machine that will burn."""
    seed = request.getfixturevalue("seed")
    kind = draw_kind(seed)
    if kind == "sealed":
        (tmp_path / "vault.keys").write_text(f"{os.urandom(32).hex()}\n")
    own = {name: value for name, value in ini.items() if not name.startswith("fs.local.")}
    return own | settings_of(kind, tmp_path)


@pytest.fixture
def machine(services, tmp_path, seed):
    """A machine that has lived and burnt; a backup of its database is from the middle of its life, with SQLite."""
    return let_live(services, tmp_path, seed)


def let_live(services, tmp_path, seed, watch=lambda machine: None):
    """Return a machine that has burnt. `watch` is called after each step."""
    token = services.tokens.generate(NewToken(roles=[Role.ADMINISTRATOR], expires="never"))
    by = services.tokens.identify(token.id, address="127.0.0.1", user_agent="")
    application = make_app(services)
    with running_server(application, hooks_of(application)) as server:
        machine = BurntMachine(services, by, token.id, server.address, tmp_path, seed, watch)
        machine.begin_life()
        machine.live(STEPS // 2)
        machine.write_journal()
        back_up(services, tmp_path / "last-night.db")
        machine.live(STEPS // 2)
        machine.burn()
    return machine


def back_up(services, target):
    if services.database.engine.dialect.name == "sqlite":
        path = str(services.database.engine.url.database)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)


@pytest.fixture
def new_machine(ini, tmp_path, in_process, plugins, migrated, seed):
    """Put what has survived into a new machine; return what runs `frepo` there, and its services."""
    count = itertools.count()

    @contextmanager
    def new_machine(kept, database=migrated, url=None):
        folder = tmp_path / f"new-{next(count)}"
        copy_folders(tmp_path, folder, kept)
        if url is None:
            shutil.copy(database, folder / "frepo.db")
            url = f"sqlite:///{folder}/frepo.db"
        settings = ini | settings_of(draw_kind(seed), folder) | {"database.url": url}
        environment = {name.upper().replace(".", "_"): value for name, value in settings.items()}
        environment |= {"PATH": os.environ["PATH"], "FREPO_INI": str(ROOT / "development.ini")}

        def frepo(*arguments):
            return in_process.run(list(arguments), env=environment, cwd=folder)

        services = assemble(settings, {}, plugins)
        services.object_reads.notes._start = lambda work: work()  # the next read knows what this one has found
        try:
            yield frepo, services, folder
        finally:
            services.database.engine.dispose()

    return new_machine


def named(kept, machine):
    """Return the names of the storages in folders, as the settings have them."""
    is_sealed = "vault" in machine.services.backends.configured
    return ["vault" if is_sealed and name == "offsite" else name for name in kept]


def check_contents(machine, services, known, ruins, said):
    """Everything that is not said to be missing is read as it was sent, and what is said to be missing is nowhere."""
    story = (machine.seed, machine.log)
    readable = {digest: ruins.has(digest) for digest in known.digests}
    for digest in said:
        assert not readable.get(digest), ("said to be missing, and readable", digest, story)
    unsaid = {digest for digest, is_there in readable.items() if not is_there} - said
    assert not unsaid or machine.flips, ("lost, and nobody said so", unsaid, story)
    finders = {
        place: (digest, lambda place=place: services.versions.find(place[0], f"v{place[1]}").file)
        for place, digest in known.versions.items()
    }
    finders |= {name: (digest, lambda name=name: services.files.find(name)) for name, digest in known.files.items()}
    for name, (digest, find) in finders.items():
        expected = machine.contents[digest] if readable[digest] else None
        assert expected == read_content(services, find, machine.flips), (name, digest, story)
    read_all(services)
    lost = check_storages(services, read_within=READ_WITHIN).lost
    assert sum(not is_there for is_there in readable.values()) == lost.contents, ("after reading all", lost, story)


def check_recovery(machine, new_machine, kept, *, then=None, **more):
    """Recover an empty database from what is left; return whether there was anything to recover from.

    `then` is an earlier state, and the keys of the journal: what was written to it later is lost, too.
    """
    names = named(kept, machine)
    expected, journal = then or (machine.known, None)
    with new_machine(kept, **more) as (frepo, services, folder):
        if journal is not None:
            cut_journal(services.backends, journal)
        words = [word for name in names for word in ("--from", name)]
        done = frepo("recover", *words, "--yes")
        story = (machine.seed, kept, done.stdout, done.stderr, machine.log)
        assert "Traceback" not in done.stderr, story
        if "has no catalogue" in done.stderr:
            return False
        known = Known.read(services)
        assert expected.versions == known.versions, story
        assert expected.trash == known.trash, story
        assert expected.files == known.files, story
        numbers = re.search(
            r"Recovered: (\d+) collections?, (\d+) versions?, (\d+) files?, .*?(\d+) versions? in", done.stdout
        )
        assert numbers, story
        assert [len(one) for one in (known.collections, known.versions, known.files, known.trash)] == [
            int(number) for number in numbers.groups()
        ], story
        path = folder / "frepo-missing.csv"
        lines = path.read_text().splitlines() if path.exists() else ()
        said = {row["digest"] for row in csv.DictReader(lines)}
        assert done.returncode == bool(said), story
        check_contents(machine, services, known, Ruins(services.backends, names), said)
    return True


@pytest.mark.databases(*first_of(["sqlite", "postgresql"]))
@pytest.mark.parametrize("seed", range(MACHINES))
def test_each_subset_of_the_storages_that_survives_is_recovered_and_the_rest_is_named(
    machine, new_machine, request, database_kind, seed
):
    recovered = 0
    subsets = [kept for size in (1, 2, 3) for kept in itertools.combinations(FOLDERS, size)]
    for kept in subsets:
        if database_kind == "sqlite":
            recovered += check_recovery(machine, new_machine, kept)
        else:
            with request.getfixturevalue("postgresql_server").fresh() as url:
                recovered += check_recovery(machine, new_machine, kept, url=url)
    assert recovered >= 4  # those with the first storage


@pytest.mark.costly
@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("seed", range(WATCHED))
def test_a_machine_that_burns_after_any_step_is_recovered(services, tmp_path, new_machine, seed):
    steps = itertools.count(1)

    def burn(machine):
        if IS_BIG or next(steps) % 10 == 0:
            assert check_recovery(machine, new_machine, FOLDERS), machine.log

    let_live(services, tmp_path, seed, burn)


@pytest.mark.costly
@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("seed", range(WATCHED))
def test_a_journal_that_ends_with_any_part_is_recovered_to_there(machine, new_machine, seed):
    recovered = [check_recovery(machine, new_machine, FOLDERS, then=then) for then in machine.parts]

    assert recovered[-1]
    assert sorted(recovered) == recovered  # only those whose catalogue was deleted since are lost


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("seed", range(MACHINES))
def test_a_database_of_last_night_gets_back_what_the_storages_have(machine, new_machine, tmp_path, seed):
    with new_machine(FOLDERS, database=tmp_path / "last-night.db") as (frepo, services, _):
        before, names = Known.read(services), named(FOLDERS, machine)
        for name in names:
            done = frepo("storage:adopt", "--storage", name, "--yes")
            assert done.returncode == 0, (seed, done.stderr, machine.log)
        done = frepo("recover", *(word for name in names for word in ("--merge", name)))
        story = (seed, done.stdout, done.stderr, machine.log)
        assert "Traceback" not in done.stderr, story
        known = Known.read(services)
        said = {
            (one, int(number))
            for number, one in re.findall(r"Missing: version (\d+) of the collection (\S+)", done.stdout)
        }
        there = {(one, digest) for (one, _), digest in (*known.versions.items(), *known.trash.items())}
        for place, digest in machine.known.versions.items():
            assert place in said or (place[0], digest) in there, (place, story)
        assert before.files.items() <= known.files.items(), story
        ruins = Ruins(services.backends, names)
        lost = {digest for digest in known.digests if not ruins.has(digest)}
        digests = {**before.versions, **machine.known.versions, **before.trash, **known.trash}
        for place in said:
            assert not ruins.has(digests[place]), (place, story)
        if not machine.flips:
            assert lost <= {digests[place] for place in said} | set(before.files.values()), story
        check_contents(machine, services, known, ruins, lost)
