"""The text for each kind of event."""

from collections.abc import Mapping

from .backups import BACKUPS
from .service import SERVICE
from .text import Text

TEXTS: Mapping[str, Text] = {**BACKUPS, **SERVICE}

OTHER = Text(
    title="{kind}",
    counted=("other event", "other events"),
    what="An event of the kind {kind} happened.",
    advice="`frepo events` lists what happened.",
)
