"""All or nothing, also when nobody knows whether the store has done what it was asked for."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from frepo_core.plugins import StorageError

from .errors import is_connect_error, translated

log = logging.getLogger(__name__)


@contextmanager
def undo_on_unknown_outcome(client: Any, bucket: str, name: str) -> Iterator[None]:
    """Guard the request that makes an object appear: when its answer gets lost, delete what it may have stored.

    A key is written once and is nobody else's, so the deletion cannot hurt.
    """
    try:
        with translated(name):
            yield
    except StorageError as error:
        if not is_connect_error(error):
            delete_quietly(client, bucket, name)
        raise


def delete_quietly(client: Any, bucket: str, name: str) -> None:
    """Delete an object that should not be; a failure is logged only, as another error is on its way."""
    try:
        with translated(name):
            client.delete_object(Bucket=bucket, Key=name)
    except StorageError as error:
        log.warning("the object %s may be left: %s", name, error)
