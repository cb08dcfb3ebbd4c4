"""Object Lock: the storage retains the objects of locked versions, and a deletion deletes all versions of an object.

A bucket with Object Lock keeps versions: a plain deletion only hides the object behind a delete marker, also one by
somebody who has stolen the keys of the bucket. So frepo deletes each version, and removes a marker that hides an object
when the object is needed.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from frepo_core.plugins import BlobRetained, StorageUnavailable

from .errors import code_of, translated
from .settings import Mode

log = logging.getLogger(__name__)

_REFUSED = {"AccessDenied", "ObjectLocked"}


class ObjectLock:
    """Retains objects of one bucket, and deletes those whose time is over."""

    def __init__(self, client: Any, bucket: str, mode: Mode) -> None:
        self._client = client
        self._bucket = bucket
        self._mode = mode

    def retain(self, name: str, until: datetime) -> None:
        """Retain an object until a time, unless it is retained longer. Raises `BlobNotFound`."""
        until = until.replace(microsecond=0) + timedelta(seconds=1)  # S3 knows whole seconds
        with translated(name):
            head = self._client.head_object(Bucket=self._bucket, Key=name)
            kept = head.get("ObjectLockRetainUntilDate")
            if kept is not None and kept >= until:
                return
            self._client.put_object_retention(
                Bucket=self._bucket,
                Key=name,
                VersionId=head["VersionId"],
                Retention={"Mode": self._mode.upper(), "RetainUntilDate": until},
            )

    def delete(self, name: str) -> None:
        """Delete all versions of an object, then its delete markers. Raises `BlobRetained` before the time is over."""
        markers = []
        with translated(name):
            for entry, is_marker in self._versions(name):
                if is_marker:
                    markers.append(entry)
                else:
                    self._delete_version(name, entry)
            for entry in markers:
                self._delete_version(name, entry)

    def break_retention(self, name: str) -> Iterator[str]:
        """Try what a thief with the keys would; yield what the bucket let happen and should have refused.

        It rightly lets a retained object be overwritten and hidden: then the retained version has to be there still.
        """
        place = {"Bucket": self._bucket, "Key": name}
        with translated(name):
            head, now = self._client.head_object(**place), datetime.now(UTC)
            version = place | {"VersionId": head["VersionId"]}
            sooner = now + (head.get("ObjectLockRetainUntilDate", now + timedelta(minutes=1)) - now) / 2
            retention = {"Mode": self._mode.upper(), "RetainUntilDate": sooner}
            shorten = partial(self._client.put_object_retention, **version, Retention=retention)
            delete = partial(self._client.delete_object, **version)
            for bypass, how in (({}, ""), ({"BypassGovernanceRetention": True}, " with a bypass of governance")):
                if _is_allowed(partial(shorten, **bypass)):
                    yield f"let the retention of an object be shortened{how}"
            self._client.put_object(**place, Body=b"overwritten", ChecksumAlgorithm="CRC32")
            self._client.delete_object(**place)
            for bypass, how in (({}, ""), ({"BypassGovernanceRetention": True}, " with a bypass of governance")):
                if _is_allowed(partial(delete, **bypass)):
                    yield f"let a retained version be deleted{how}"
                    return
            self._client.get_object(**version)["Body"].close()

    def uncover(self, name: str) -> bool:
        """Remove the delete markers that somebody has put over an object; return whether there is one again."""
        with translated(name):
            found = list(self._versions(name))
            if all(is_marker for _, is_marker in found):
                return False
            for entry, is_marker in found:
                if is_marker:
                    log.warning("somebody has hidden the object %s behind a delete marker, which is removed", name)
                    self._delete_version(name, entry)
        return True

    def require(self) -> None:
        """Raise `StorageUnavailable` if the bucket has no Object Lock, or retains everything by default."""
        try:
            with translated(self._bucket):
                answer = self._client.get_object_lock_configuration(Bucket=self._bucket)
        except StorageUnavailable as error:
            if isinstance(error.__cause__, ClientError):
                answer = {}
            else:
                raise
        found = answer.get("ObjectLockConfiguration", {})
        if found.get("ObjectLockEnabled") != "Enabled":
            raise StorageUnavailable(
                f"The bucket {self._bucket!r} has no Object Lock, which fs.awss3v3.object_lock needs: make a "
                "bucket with it, and move the blobs with frepo storage:migrate"
            )
        if found.get("Rule"):
            raise StorageUnavailable(
                f"The bucket {self._bucket!r} has a default retention, which also keeps probes and marks of frepo: "
                "remove it, frepo sets the retention of each blob itself"
            )

    def _versions(self, name: str) -> Iterator[tuple[dict[str, Any], bool]]:
        """Yield the versions and the delete markers of exactly this object."""
        pages = self._client.get_paginator("list_object_versions").paginate(Bucket=self._bucket, Prefix=name)
        for page in pages:
            for kind in ("Versions", "DeleteMarkers"):
                yield from ((one, kind == "DeleteMarkers") for one in page.get(kind, ()) if one["Key"] == name)

    def _delete_version(self, name: str, entry: dict[str, Any]) -> None:
        version = entry["VersionId"]
        try:
            self._client.delete_object(Bucket=self._bucket, Key=name, VersionId=version)
        except ClientError as error:
            if code_of(error) not in _REFUSED:
                raise
            until = self._kept_until(name, version)
            raise BlobRetained(f"The bucket retains {name} until {until or 'an unknown time'}", until=until) from error

    def _kept_until(self, name: str, version: str) -> datetime | None:
        try:
            head = self._client.head_object(Bucket=self._bucket, Key=name, VersionId=version)
        except ClientError:
            return None
        until: datetime | None = head.get("ObjectLockRetainUntilDate")
        return until


def _is_allowed(action: Callable[[], Any]) -> bool:
    """Return whether the bucket did it; False if it refused. Another error is raised."""
    try:
        action()
    except ClientError as error:
        if code_of(error) in _REFUSED:
            return False
        raise
    return True
