"""Checks whether contents wait for second copies."""

from collections.abc import Iterator
from datetime import timedelta

from frepo_core.db import utc_now
from frepo_core.services.composition.container import Services

from ..second_copies.feature import SecondCopyServices
from ..storage_check.storage_check import check_storages
from .findings import Finding, good, problem, warning

# Copies are made within minutes. Below that, nobody has to act.
PATIENCE = timedelta(hours=1)
CHECKED_WITHIN = timedelta(days=60)
_REMEDY = "Run `frepo storage:mirror` to see what is wrong, and `frepo jobs mirror` for the last runs"


def check_copies(services: Services) -> Iterator[Finding]:
    """Yield how far behind the second copies are, and whether both sides are checked."""
    found, now = services.feature(SecondCopyServices).reports.read(), utc_now()
    if not found:
        yield good("copies", "Each content has one copy; docs/second-copy.md says how to get a second one")
    for one in found:
        text = one.describe(now)
        if one.is_late:
            yield problem("copies", text, _REMEDY)
        elif one.age(now) > PATIENCE or not one.is_known:
            yield warning("copies", text, _REMEDY)
        else:
            yield good("copies", text)
        sides = {"contents of the first storage": one.first_checked_at, f"copies in {one.storage}": one.checked_at}
        for side, at in sides.items():
            if at is not None and now - at > CHECKED_WITHIN:
                remedy = "Let the job `verify` run, or run `frepo storage:verify`"
                yield warning("copies", f"The {side} were not all checked since {at:%Y-%m-%d}", remedy)


def check_fires(services: Services) -> Iterator[Finding]:
    """Yield what a fire of each storage would cost, and what can be decoded nowhere. Reads all rows of contents."""
    found = check_storages(services)
    for one in found.storages:
        cost = one.only_here.describe() if one.only_here.contents else "nothing: the others can decode all contents"
        if one.trouble:
            message = f"The storage {one.storage!r} does not work, so the fires of others cost more: {one.trouble}"
            yield problem("fires", message, "Mount it, or correct its settings")
        else:
            yield good("fires", f"A fire of the storage {one.storage!r} would cost {cost}")
    if found.lost.contents:
        message = f"No storage can decode {found.lost.describe()}"
        yield problem(
            "copies", message, "Send the same contents again, or restore their keys, see `frepo storage:check`"
        )
