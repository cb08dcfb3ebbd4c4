"""The backend `awss3v3`: uploads objects in one request or in parts, reads them as streams, presigns URLs."""

import io
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO
from urllib.parse import quote

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from frepo_core.plugins import BlobNotFound, BlobStat, ConfigurationError, StorageBackend, StorageUnavailable, is_key

from .content import checksum_of, download, expect_end, read_part
from .errors import code_of, translated
from .multipart import MultipartUpload
from .object_lock import ObjectLock
from .settings import S3Settings
from .undo import delete_quietly, undo_on_unknown_outcome

log = logging.getLogger(__name__)

LONGEST_EXPIRY = 7 * 24 * 3600  # seconds, the maximum of signature version 4


USED = "x-rgw-bytes-used"
# Of each bucket of the user, and of all of them together. A negative one is not set.
QUOTAS = ("x-rgw-quota-bucket-size", "x-rgw-quota-user-size")


CONNECTIONS = 32  # in the pool of a process, as many as it may have threads


def make_client(settings: S3Settings) -> Any:
    """Build a client that threads can share, without a request.

    Raises `ConfigurationError` for an invalid endpoint or region.
    """
    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": settings.addressing_style},
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        retries={"total_max_attempts": settings.attempts, "mode": "standard"},
        max_pool_connections=CONNECTIONS,
        request_checksum_calculation=settings.request_checksum_calculation,
        response_checksum_validation=settings.response_checksum_validation,
        tcp_keepalive=True,
    )
    try:
        # A separate session, as boto3's default session is not thread-safe.
        return boto3.session.Session().client(
            "s3",
            region_name=settings.region or None,
            endpoint_url=settings.endpoint or None,
            aws_access_key_id=settings.key.get_secret_value() or None,
            aws_secret_access_key=settings.secret.get_secret_value() or None,
            config=config,
        )
    except (BotoCoreError, ValueError) as error:
        raise ConfigurationError(f"fs.awss3v3 (FS_AWSS3V3_*): {error}") from error


def space_left(headers: Mapping[str, str]) -> int | None:
    """Return how many bytes the quotas leave, None without a quota. Other buckets of the user are not counted."""
    used = _number(headers.get(USED))
    quota = quota_of(headers)
    return max(0, quota - used) if quota is not None and used is not None else None


def quota_of(headers: Mapping[str, str]) -> int | None:
    """Return the smaller one of the quotas, None without a quota."""
    return min((quota for name in QUOTAS if (quota := _number(headers.get(name))) is not None), default=None)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None


class S3Storage(StorageBackend):
    """Stores each blob as an object whose name is the prefix and the blob's key.

    An object is complete or does not exist. Failed uploads are aborted. Uploads that a crash left unfinished are
    aborted by `tidy`, or by a lifecycle rule of the bucket (`AbortIncompleteMultipartUpload`).
    """

    def __init__(self, settings: S3Settings) -> None:
        self.settings = self._settings = settings
        self._bucket = settings.bucket
        self._client = make_client(settings)
        mode = settings.object_lock
        self._lock = None if mode == "off" else ObjectLock(self._client, self._bucket, mode)
        self._multipart = MultipartUpload(
            self._client,
            bucket=self._bucket,
            part_size=settings.part_size,
            parallel=settings.parallel_parts,
            checksums=settings.request_checksum_calculation,
        )

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Upload a small blob in one request, a larger one in parallel parts."""
        name = self._name(key)
        if size <= self._settings.part_size:
            self._put(name, content, size)
        else:
            self._multipart.upload(name, content, size)
            self._check_size(key, size)

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open a stream of the object, or of a range of it."""
        if length == 0:
            self.stat(key)
            return io.BytesIO()
        try:
            return self._open(key, start, length)
        except BlobNotFound:
            if not self._uncover(key):
                raise
            return self._open(key, start, length)

    def _open(self, key: str, start: int, length: int | None) -> BinaryIO:
        span = {} if start == 0 and length is None else {"Range": f"bytes={start}-{_last(start, length)}"}
        with translated(key):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=self._name(key), **span)
            except ClientError as error:
                if code_of(error) in {"InvalidRange", "416"}:  # the range starts at or after the end
                    return io.BytesIO()
                raise
        if span and not answer.get("ContentRange", "").startswith(f"bytes {start}-"):
            answer["Body"].close()
            raise StorageUnavailable("The S3 storage answered with another range than requested")
        return download(key, answer["Body"], answer["ContentLength"])

    def delete(self, key: str) -> None:
        """Delete the object. With Object Lock, raise `BlobRetained` before its time."""
        if self._lock is not None:
            self._lock.delete(self._name(key))
            return
        try:
            with translated(key):
                self._client.delete_object(Bucket=self._bucket, Key=self._name(key))
        except BlobNotFound:  # most servers report success instead
            log.debug("%s did not exist when it was deleted", key)

    def stat(self, key: str) -> BlobStat:
        """Request the object's head."""
        try:
            head = self._head(key)
        except BlobNotFound:
            self._require_bucket()
            if not self._uncover(key):
                raise
            head = self._head(key)
        return BlobStat(key=key, size=head["ContentLength"], modified=head["LastModified"])

    def retain(self, key: str, until: datetime) -> bool:
        """Retain the object with Object Lock, if the setting says so."""
        if self._lock is None:
            return False
        self.stat(key)  # removes a delete marker that hides it
        self._lock.retain(self._name(key), until)
        return True

    def break_retention(self, key: str) -> Sequence[str]:
        """Try to shorten the retention, to overwrite the object and to delete its version, with a bypass, too."""
        if self._lock is None:
            return super().break_retention(key)
        return list(self._lock.break_retention(self._name(key)))

    def server(self) -> str:
        """Return the header `Server`."""
        return self._headers_of_bucket().get("server", "")

    def check(self) -> None:
        """Store, read and delete a probe. With Object Lock, look at the bucket's configuration, too."""
        if self._lock is not None:
            self._lock.require()
        super().check()

    def _head(self, key: str) -> Any:
        with translated(key):
            return self._client.head_object(Bucket=self._bucket, Key=self._name(key))

    def _uncover(self, key: str) -> bool:
        return self._lock is not None and is_key(key) and self._lock.uncover(self._name(key))

    def list(self) -> Iterator[BlobStat]:
        """Yield the blobs, one page at a time. Other objects, such as folders that a console created, are skipped."""
        prefix = self._settings.prefix
        with translated(self._bucket):
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                for found in page.get("Contents", ()):
                    key = found["Key"].removeprefix(prefix)
                    if is_key(key):
                        yield BlobStat(key=key, size=found["Size"], modified=found["LastModified"])

    def tidy(self, before: datetime) -> int:
        """Abort unfinished multipart uploads that began before this time."""
        return self._multipart.abort_begun_before(self._settings.prefix, before)

    def url(self, key: str, *, expires: int, filename: str, content_type: str) -> str:
        """Presign a GET for at most seven days. The answer will have this type, and this name for saving."""
        parameters = {
            "Bucket": self._bucket,
            "Key": self._name(key),
            "ResponseContentType": content_type,
            "ResponseContentDisposition": _attachment(filename),
        }
        with translated(key):
            return str(
                self._client.generate_presigned_url(
                    "get_object", Params=parameters, ExpiresIn=min(expires, LONGEST_EXPIRY)
                )
            )

    def free_space(self) -> int | None:
        """Return what the quotas of a Ceph RADOS Gateway leave; S3 itself has no such request, so elsewhere None."""
        return space_left(self._headers_of_bucket())

    def total_space(self) -> int | None:
        """Return the quota of a Ceph RADOS Gateway; None elsewhere, and without one."""
        return quota_of(self._headers_of_bucket())

    def ask_bucket(self, method: str) -> Any:
        """Return the answer to a question about the bucket, such as `get_bucket_versioning`."""
        return getattr(self._client, method)(Bucket=self._bucket)

    def _headers_of_bucket(self) -> Mapping[str, str]:
        try:
            with translated(self._bucket):
                answer = self._client.head_bucket(Bucket=self._bucket)
        except BlobNotFound as error:
            raise self._bucket_missing() from error.__cause__
        headers: Mapping[str, str] = answer["ResponseMetadata"]["HTTPHeaders"]
        return headers

    def _name(self, key: str) -> str:
        if not is_key(key):
            raise BlobNotFound(f"{key!r} is not a key")
        return self._settings.prefix + key

    def _put(self, name: str, content: BinaryIO, size: int) -> None:
        data = bytearray(size)
        read_part(content, data)
        expect_end(content)
        checksum = checksum_of(data, self._settings.request_checksum_calculation)
        with undo_on_unknown_outcome(self._client, self._bucket, name):
            self._client.put_object(Bucket=self._bucket, Key=name, Body=data, **checksum)

    def _check_size(self, key: str, size: int) -> None:
        found = self.stat(key).size
        if found != size:
            delete_quietly(self._client, self._bucket, self._name(key))
            raise StorageUnavailable(f"The S3 storage has {found} bytes of {key!r}, not {size}")

    def _require_bucket(self) -> None:
        """Raise `StorageUnavailable` if the bucket does not exist: HEAD answers 404 for objects in it as well."""
        try:
            with translated(self._bucket):
                self._client.head_bucket(Bucket=self._bucket)
        except BlobNotFound as error:
            raise self._bucket_missing() from error.__cause__

    def _bucket_missing(self) -> StorageUnavailable:
        return StorageUnavailable(f"The bucket {self._bucket!r} does not exist")


def _last(start: int, length: int | None) -> str:
    return "" if length is None else str(start + length - 1)


def _attachment(filename: str) -> str:
    """Return a Content-Disposition header for any file name (RFC 6266, appendix D)."""
    plain = "".join(c if " " <= c <= "~" and c not in '"\\%/' else "_" for c in filename)
    extended = "" if plain == filename else f"; filename*=UTF-8''{quote(filename, safe='')}"
    return f'attachment; filename="{plain}"{extended}'
