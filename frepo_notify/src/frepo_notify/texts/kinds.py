"""The text for each kind of event."""

from collections.abc import Mapping

from .backups import BACKUPS
from .service import SERVICE
from .text import Text

TEXTS: Mapping[str, Text] = {**BACKUPS, **SERVICE}

# A plug-in says itself what its events are.
OF_PLUGIN = Text(
    title="{sentence}",
    counted=("event of a plug-in", "events of plug-ins"),
    what="{sentence}.",
)
OTHER = Text(
    title="{kind}",
    counted=("other event", "other events"),
    what="An event of the kind {kind} happened.",
    advice="`frepo events` lists what happened.",
)
