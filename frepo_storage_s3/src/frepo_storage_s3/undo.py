"""Deletes an object after a request whose outcome is unknown, so that an upload is complete or does not exist."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from frepo_core.plugins import StorageError

from .errors import is_connect_error, translated

log = logging.getLogger(__name__)


@contextmanager
def undo_on_unknown_outcome(client: Any, bucket: str, name: str) -> Iterator[None]:
    """Run the request that creates an object. If it fails and may have reached the server, delete the object.

    A key is written once and belongs to this upload, so deleting it cannot affect other blobs.
    """
    try:
        with translated(name):
            yield
    except StorageError as error:
        if not is_connect_error(error):
            delete_quietly(client, bucket, name)
        raise


def delete_quietly(client: Any, bucket: str, name: str) -> None:
    """Delete an object. A failure is only logged, because another exception is being raised."""
    try:
        with translated(name):
            client.delete_object(Bucket=bucket, Key=name)
    except StorageError as error:
        log.warning("the object %s may remain: %s", name, error)
