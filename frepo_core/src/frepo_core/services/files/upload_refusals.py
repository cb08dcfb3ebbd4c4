"""Logs refused uploads of files: the name, the author and the reason. Those of versions are events, too."""

import contextlib
import logging
from collections.abc import Iterator

from frepo_core.domain.identity import Identity, describe_actor

from ..events.refusals import REFUSALS, describe_refusal

log = logging.getLogger(__name__)


@contextlib.contextmanager
def logged_refusal(name: str | None, *, by: Identity) -> Iterator[None]:
    """Log a refusal that the body of the `with` statement raises, but not one of `frepo`: it prints errors itself."""
    try:
        yield
    except REFUSALS as error:
        if by.token:
            log.warning(
                "file %r: an upload by %s was refused: %s", name or "", describe_actor(by), describe_refusal(error)
            )
            error.is_logged = True
        raise
