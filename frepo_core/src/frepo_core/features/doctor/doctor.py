"""Runs all checks, in the order in which a problem of one explains those of the others."""

from collections.abc import Callable, Iterator
from functools import cache, partial

from frepo_core.errors import FrepoError
from frepo_core.services.composition.container import Services

from . import address, clock, compact, copies, data, disk, locks, permissions, plugins, secrets, versions
from .findings import Finding, Level, good, guarded, problem

_LOG = "The log of the service has more: `journalctl -u 'frepo@*'`, or its stderr"

# Not examined if the database has a problem.
_NEED_DATABASE = {"safe", "clock", "copies", "fires", "locks", "compact", "strategies", "storage", "upkeep"}


def examine(
    assemble: Callable[[], Services], *, files: permissions.SettingFiles, url: str | None = None
) -> Iterator[Finding]:
    """Yield what all checks find. Nothing is changed, except for a probe that the storage stores and deletes.

    `assemble` builds the services; an error of it ends the examination, as nothing else can be checked then. `url` is
    the address under which clients reach the service, None: it is not called.
    """
    yield from versions.check_packages()
    try:
        services = assemble()
        services.build_all()
    except FrepoError as error:
        yield problem(
            "settings", error.message, error.explanation or "Correct the setting; docs/settings.md explains all"
        )
        return
    yield good("settings", f"They can be read; app.env is {services.settings.app_env}")
    health = cache(partial(services.health.run, is_logged=False))
    subjects: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        ("secrets", partial(secrets.check_secrets, services.settings)),
        ("permissions", partial(permissions.check_permissions, services, files)),
        ("database", partial(data.check_database, services)),
        ("clock", partial(clock.check_clock, services)),
        ("strategies", partial(data.check_strategies, services)),
        ("storage", partial(data.check_storage, services, health)),
        ("copies", partial(copies.check_copies, services)),
        ("fires", partial(copies.check_fires, services)),
        ("locks", partial(locks.check_locks, services)),
        ("compact", partial(compact.check_compact, services)),
        ("disk", partial(disk.check_disk, services)),
        ("safe", partial(secrets.check_safe, services)),
        ("trash", partial(disk.check_trash, services)),
        ("proxy", partial(address.check_proxies, services.settings)),
        *([("address", partial(address.check_url, url))] if url else []),
        ("upkeep", partial(data.check_upkeep, services, health)),
    ]
    has_database = True
    for name, find in subjects:
        if name in _NEED_DATABASE and not has_database:
            continue
        for finding in guarded(name, find, _LOG):
            has_database = has_database and not (finding.subject == "database" and finding.level == Level.PROBLEM)
            yield finding
    yield from plugins.check_plugins(services)
