"""Checks whether older versions are stored as differences, and whether the job `compact` keeps up."""

from collections.abc import Iterator

from frepo_core.domain.sizes import readable_size
from frepo_core.errors import CompactLateError
from frepo_core.services.composition.container import Services

from ..compact.encodings.format import WINDOWS_FORMAT
from ..compact.feature import CompactServices
from .findings import Finding, good, problem, warning

_REMEDY = "Run `frepo jobs compact` to see the last runs, and `frepo compact` to do the work now"


def check_compact(services: Services) -> Iterator[Finding]:
    """Yield what compact storage saves, what it keeps only for others, and what waits.

    A start without the extra that a setting or a stored content needs was refused before.
    """
    spaces = services.feature(CompactServices).spaces
    found = spaces.read()
    if found is None:
        yield good("compact", "Each version is stored whole; docs/compact.md says what `compact = true` saves")
        return
    try:
        spaces.check()
    except CompactLateError as error:
        yield problem("compact", error.message, _REMEDY)
    figures = found.figures
    text = f"{figures.encoded} contents are encoded, which saves {readable_size(figures.saved)}"
    if not found.is_counted:
        text = "What is encoded was not counted yet: the job compact does so"
    if not services.settings.compact:
        remedy = "Set `compact = true`, or run `frepo compact --expand`"
        yield warning("compact", f"{text}, but compact is off: evicted versions stay that others need", remedy)
    elif figures.waiting > figures.encoded:
        yield warning("compact", f"{text}, and {figures.waiting} wait", _REMEDY)
    elif services.settings.compact_format < WINDOWS_FORMAT:
        # Earlier versions cannot use the tables of this database, see migration 0045.
        remedy = "no process that cannot read it can use this database"
        yield good("compact", f"{text}. `compact.format` may be set to 2 now: {remedy}")
    else:
        yield good("compact", text)
