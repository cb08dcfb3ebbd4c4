"""Runs what plug-ins examine, each check in a thread of its own with a deadline."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from frepo_core.errors import FrepoError
from frepo_core.plugins import DoctorCheck, DoctorFinding
from frepo_core.plugins.registry import Owned
from frepo_core.services.base.plugin_deadlines import PluginHangs, PluginThreads
from frepo_core.services.base.plugin_failures import PLUGIN_FAILURES, describe_failure, raise_interrupt
from frepo_core.services.composition.container import Services

from .findings import Finding, Level, problem


def check_plugins(services: Services) -> Iterator[Finding]:
    """Yield what the checks of all plug-ins find. One that fails or hangs is a problem, and the others go on."""
    for owned in services.plugins.doctor_checks.values():
        if owned.spec.storage is None:
            yield from _findings(services, owned, None)
            continue
        for name in services.backends.in_use:
            if services.backends.adapter(name) == owned.spec.storage:
                yield from _findings(services, owned, name)


def _findings(services: Services, owned: Owned[DoctorCheck], storage: str | None) -> Iterator[Finding]:
    """Run one check; of the storage with this name if it examines one."""
    spec, origin = owned.spec, f"The check {owned.spec.name!r} ({owned.plugin.origin})"
    threads = PluginThreads(f"doctor check {spec.name}", spec.deadline)
    remedy = f"Fix or uninstall the package {owned.plugin.distribution}"
    try:
        found = threads.call(partial(_run, services, owned, storage))
    except PluginHangs as hangs:
        yield problem(spec.name, f"{origin} {hangs}", remedy)
    except FrepoError as error:
        yield problem(spec.name, error.message, error.explanation or f"{origin} has found it")
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        yield problem(spec.name, f"{origin} failed: {describe_failure(error)}", remedy)
    else:
        for one in found:
            yield Finding(subject=spec.name, level=Level(one.level), message=one.message, remedy=one.remedy)


def _run(services: Services, owned: Owned[DoctorCheck], storage: str | None) -> list[DoctorFinding]:
    spec, context = owned.spec, services.contexts[owned.plugin.name]
    arguments: list[Any] = [context] if storage is None else [services.backends.get(storage), context]
    found = list(spec.run(*arguments))
    if odd := [one for one in found if not isinstance(one, DoctorFinding)]:
        raise TypeError(f"run() returned {odd[0]!r}, which is not a DoctorFinding")
    return found
