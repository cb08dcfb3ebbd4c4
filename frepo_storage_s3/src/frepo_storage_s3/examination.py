"""What `frepo doctor` finds about the storage `awss3v3`."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from frepo_core.plugins import DoctorFinding

from .backend import S3Storage

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def examine(storage: S3Storage) -> Iterator[DoctorFinding]:
    """Yield what is wrong with the connection and the bucket. What the server does not tell is not examined."""
    endpoint = urlsplit(storage.settings.endpoint)
    if endpoint.scheme == "http" and endpoint.hostname not in _LOOPBACK:
        yield DoctorFinding(
            level="warning",
            message=f"All blobs cross the network to {endpoint.hostname} in the clear",
            remedy="Set fs.awss3v3.endpoint to an address that begins with https://",
        )
    if storage.settings.object_lock != "off":
        yield from _examine_lock(storage)
    elif _asked(storage.ask_bucket, "get_bucket_versioning").get("Status") == "Enabled" and not _expires(storage):
        yield DoctorFinding(
            level="warning",
            message="The bucket keeps old versions of objects, so what frepo deletes takes up space for ever",
            remedy="Add a lifecycle rule with NoncurrentVersionExpiration to the bucket",
        )


def _examine_lock(storage: S3Storage) -> Iterator[DoctorFinding]:
    """Yield what keeps the bucket from retaining the blobs of locked versions, and only those."""
    found = _asked(storage.ask_bucket, "get_object_lock_configuration").get("ObjectLockConfiguration", {})
    if found.get("ObjectLockEnabled") != "Enabled":
        yield DoctorFinding(
            level="problem",
            message="fs.awss3v3.object_lock is set, and the bucket has no Object Lock",
            remedy="Make a bucket with Object Lock, and move the blobs with frepo storage:migrate",
        )
    elif found.get("Rule"):
        yield DoctorFinding(
            level="problem",
            message="The bucket has a default retention, which also keeps the probes and marks of frepo",
            remedy="Remove the default retention: frepo sets the retention of each blob itself",
        )


def _expires(storage: S3Storage) -> bool:
    """Return whether a lifecycle rule ends old versions."""
    rules = _asked(storage.ask_bucket, "get_bucket_lifecycle_configuration").get("Rules", [])
    return any("NoncurrentVersionExpiration" in rule and rule.get("Status") == "Enabled" for rule in rules)


def _asked(ask: Any, method: str) -> dict[str, Any]:
    """Return the answer; an empty one if the server does not know the question, or the key may not ask it."""
    try:
        answer: dict[str, Any] = ask(method)
    except (BotoCoreError, ClientError):
        return {}
    return answer
