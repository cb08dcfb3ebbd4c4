"""Checks the database, the storage, and the work that the service does by itself."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

from sqlalchemy import Engine, func, select

from frepo_core.db import migrations
from frepo_core.db.migrations import plugin_schemas
from frepo_core.db.models import Collection, StoredObject, Token
from frepo_core.db.text_columns import CHARSET, COLLATION, find_narrow_text
from frepo_core.domain.texts.counts import counted
from frepo_core.errors import FrepoError
from frepo_core.services.access import token_phrase
from frepo_core.services.backups.rotation.missing_strategies import find_misfits, find_missing_strategies
from frepo_core.services.base.plugin_rows import find_lacking
from frepo_core.services.composition.assembly import NETWORK_SECONDS
from frepo_core.services.composition.container import Services
from frepo_core.services.composition.startup import schemas_of
from frepo_core.services.content.storages.first_storage import find_differences, follow_promotion
from frepo_core.services.reports.job_health import check_worker, has_ever_led

from .findings import Finding, good, guarded, problem, warning

# Runs the health checks once: the messages of each by its name.
Health: TypeAlias = Callable[[], Mapping[str, tuple[str, ...]]]
# Each has findings of its own.
_OTHERS = {"worker", "jobs", "database", "copies", "compact"}


def check_database(services: Services) -> Iterator[Finding]:
    """Yield whether the database answers, has the schema of this version, and belongs to the token phrase."""
    database = services.database
    database.check(for_writes=not services.settings.read_only)
    migrations.check_is_current(database.engine)
    schemas = schemas_of(services.plugins)
    plugin_schemas.check_are_current(database.engine, schemas)
    token_phrase.verify(database, services.settings.enc_token_phrase.get_secret_value())
    dialect = database.engine.dialect
    yield good(
        "database", f"{database.name} answers, its schema is {migrations.head_revision()}, the token phrase fits"
    )
    for schema in schemas:
        yield good("database", f"The tables of {schema.origin} are at {schema.head}")
        if not schema.is_recovered:
            yield good("database", f"The tables of {schema.origin} do not come back with `frepo recover`")
    for plugin, count in find_lacking(database).items():
        yield warning(
            "database",
            f"{counted(count, 'row')} of the plug-in {plugin} are kept since a recovery, and its tables lack them",
            "Install its package again and run `frepo db:upgrade`; if that was done, the log names what does not fit",
        )
    if dialect.name == "sqlite" and services.settings.app_env == "prod":
        yield warning(
            "database",
            "It is SQLite, which serves one machine, and one writer at a time",
            "That is enough for a few hundred uploads a minute; otherwise move to PostgreSQL, see docs/install.md",
        )
    yield from _check_timeouts(services)
    yield from _check_text(database.engine)
    with database.reading() as session:
        tokens = session.scalar(select(func.count()).select_from(Token))
    if not tokens:
        yield warning(
            "database", "It has no token, so nobody can use the service", "Run `frepo auth:generate-admin-token`"
        )


def _check_text(engine: Engine) -> Iterator[Finding]:
    """Yield what of MariaDB or MySQL cannot store every text."""
    with engine.connect() as connection:
        narrow = find_narrow_text(connection)
    if narrow.columns:
        yield problem(
            "database",
            f"{len(narrow.columns)} text columns have not the character set {CHARSET}, such as {narrow.columns[0]}: "
            "names and messages of many languages are refused",
            "Run `frepo db:upgrade`",
        )
    if narrow.default:
        yield warning(
            "database",
            f"Its default character set is {narrow.default}: new tables of plug-ins would refuse many texts",
            f"Run ALTER DATABASE ... CHARACTER SET {CHARSET} COLLATE {COLLATION}",
        )


def _check_timeouts(services: Services) -> Iterator[Finding]:
    """Yield which timeouts the connections have, and which the server or a pooler has not set."""
    wanted, found = services.database.timeouts()
    if different := {name: value for name, value in found.items() if value != wanted[name]}:
        yield warning(
            "database",
            "A connection has not got the timeouts of the settings database.*_timeout: "
            + ", ".join(f"{name} is {value}, not {wanted[name]}" for name, value in different.items()),
            "Look for other values in the URL's query, or for a pooler that drops them; see docs/troubleshooting.md",
        )
    elif found:
        values = ", ".join(f"{name} {value}" for name, value in found.items())
        yield good("database", f"Timeouts of each connection: {values}, network {NETWORK_SECONDS:g} s")


def check_strategies(services: Services) -> Iterator[Finding]:
    """Yield for which collections no installed package provides the strategy, and whose options do not fit it."""
    missing = list(find_missing_strategies(services.database, services.plugins.strategies))
    for text in missing:
        yield problem(
            "strategies",
            text,
            "Install its package and restart the service, or run `frepo backup:edit ID --strategy NAME`",
        )
    misfits = list(find_misfits(services.database, services.plugins))
    for text in misfits:
        yield problem(
            "strategies",
            text,
            "Its defaults apply until you run `frepo backup:edit ID --strategy-options JSON`",
        )
    if not missing and not misfits:
        yield good("strategies", "Those of all collections are installed, and their options fit")


def check_storage(services: Services, health: Health) -> Iterator[Finding]:
    """Yield whether each storage keeps a probe, whether blobs are damaged, and what plug-ins' health checks find."""
    follow_promotion(services.database, services.backends)
    found, backends, remedies = health(), services.backends, _remedies(services)
    problems = {check: found[check] for check in found if found[check] and check not in _OTHERS}
    for check, messages in problems.items():
        if check.startswith("trash") and check.replace("trash", "storage", 1) in problems:
            continue  # how much is free is not known, because the storage does not answer
        for message in messages:
            yield problem("storage", message, remedies.get(check, f"The health check {check} of a plug-in found it"))
    if not problems:
        names = ", ".join(repr(name) for name in backends.configured)
        yield good("storage", f"{names} stored, returned and deleted a probe; no blob is known to be damaged")
    for difference, remedy in find_differences(services.backends, services.settings.mirror):
        yield warning("storage", difference, remedy)
    yield from _check_older_storages(services)
    yield from _check_wanted_storages(services)


def _remedies(services: Services) -> dict[str, str]:
    """Return what to do if a health check of the core fails, by its name."""
    backends = services.backends
    remedies = {"blobs": "Run `frepo storage:verify`, and see docs/troubleshooting.md"}
    # The checks of a storage that was promoted look at the one that was the first before.
    remedies[f"storage_{backends.current}"] = "Check that the former first storage is mounted or reachable"
    for name in backends.configured:
        of = "" if name == backends.current else f"_{name}"
        remedies[f"storage{of}"] = (
            f"Check that the storage {name!r} is mounted or reachable, and the settings "
            f"{backends.settings_prefix(name)}.*"
        )
        remedies[f"trash{of}"] = "Lower the limits of collections, or trash.keep; or enlarge the storage"
    return remedies


def _check_older_storages(services: Services) -> Iterator[Finding]:
    """Yield for each storage that holds only older blobs whether it can be used and is the right one."""
    with services.database.reading() as session:
        elsewhere = (StoredObject.storage.not_in(services.backends.configured), StoredObject.slot.is_not(None))
        query = select(StoredObject.storage, func.count()).where(*elsewhere, StoredObject.key.is_not(None))
        older = list(session.execute(query.group_by(StoredObject.storage).order_by(StoredObject.storage)))
    for name, number in older:
        try:
            services.presence.look(name)
        except FrepoError as error:
            yield problem(
                "storage",
                f"The storage {name!r} holds {number} older blobs, which cannot be read: {error.message}",
                f"Install its package, check the settings fs.{name}.*, and that it is mounted or reachable; or move "
                f"the blobs with `frepo storage:migrate`",
            )
        else:
            yield good("storage", f"{name!r}, which holds {number} older blobs, answers")


def _check_wanted_storages(services: Services) -> Iterator[Finding]:
    """Yield which collections name a storage that is not configured, as after a recovery without it."""
    configured = services.backends.configured
    with services.database.reading() as session:
        query = select(Collection.storage, func.count(), func.min(Collection.id))
        query = query.where(Collection.storage.not_in(configured)).group_by(Collection.storage)
        wanted = session.execute(query.order_by(Collection.storage)).all()
    for name, number, example in wanted:
        collections = "1 collection stores its" if number == 1 else f"{number} collections store their"
        yield problem(
            "storage",
            f"{collections} versions in {name!r}, which is not configured, such as {example}: uploads are refused",
            f"Configure {name!r} again, or name another one: `frepo backup:edit {example} --storage NAME`, and with '' "
            "the first storage",
        )


def check_upkeep(services: Services, health: Health) -> Iterator[Finding]:
    """Yield whether a worker leads, and whether the jobs without which data is lost unnoticed run."""
    if services.settings.read_only:
        yield warning("upkeep", "read_only is on: no upload is accepted, and no job runs", "Set read_only = false")
        return
    start = "Start the service; if it runs, its log says why no worker leads"
    has_led = has_ever_led(services.database)
    if not has_led:
        yield warning("upkeep", "No worker has ever led: no service has run with this database yet", start)
    worker = list(guarded("upkeep", partial(_check_worker, services), start)) if has_led else []
    yield from worker
    jobs = health()["jobs"]
    for message in jobs:
        yield problem(
            "upkeep", message, "Run `frepo jobs` to see the error, remove the cause, and run `frepo jobs:run JOB`"
        )
    if has_led and not worker and not jobs:
        yield good("upkeep", "A worker leads, and verify and sweep work")


def _check_worker(services: Services) -> Iterator[Finding]:
    check_worker(services.database)
    return iter(())
