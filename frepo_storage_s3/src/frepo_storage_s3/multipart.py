"""Multipart uploads of large blobs: several parts at a time, and the upload is aborted after any failure."""

import logging
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from queue import LifoQueue
from typing import Any, BinaryIO

from frepo_core.plugins import StorageError, is_blob_key

from .content import checksum_of, expect_end, read_part
from .errors import translated
from .undo import undo_on_unknown_outcome

log = logging.getLogger(__name__)

MOST_PARTS = 10_000


class MultipartUpload:
    """Uploads contents in parts. All uploads together hold `parallel` parts in memory, and one that is being read.

    The buffers are reused, because allocating one takes as long as sending a part.
    """

    def __init__(self, client: Any, *, bucket: str, part_size: int, parallel: int, checksums: str) -> None:
        self._client = client
        self._bucket = bucket
        self._part_size = part_size
        self._parallel = parallel
        self._checksums = checksums
        self._buffers: LifoQueue[bytearray] = LifoQueue()
        for _ in range(parallel + 1):
            self._buffers.put(bytearray())

    def upload(self, name: str, content: BinaryIO, size: int) -> None:
        """Upload exactly `size` bytes as the object `name`, which exists once all parts are uploaded."""
        with self._started(name) as target:
            parts = self._send(target, content, size)
            expect_end(content)
            with undo_on_unknown_outcome(self._client, self._bucket, name):
                self._client.complete_multipart_upload(**target, MultipartUpload={"Parts": parts})

    def abort_begun_before(self, prefix: str, before: datetime) -> int:
        """Abort unfinished uploads of blobs that began before this time; return their number.

        Foreign uploads in the same bucket are not aborted.
        """
        aborted = 0
        with translated(self._bucket):
            pages = self._client.get_paginator("list_multipart_uploads").paginate(Bucket=self._bucket, Prefix=prefix)
            for page in pages:
                for upload in page.get("Uploads", ()):
                    if upload["Initiated"] < before and is_blob_key(upload["Key"].removeprefix(prefix)):
                        self._abort({"Bucket": self._bucket, "Key": upload["Key"], "UploadId": upload["UploadId"]})
                        aborted += 1
        return aborted

    def _send(self, target: dict[str, str], content: BinaryIO, size: int) -> list[dict[str, Any]]:
        """Read the parts in this thread and send them in others; return them in order."""
        part_size = max(self._part_size, -(-size // MOST_PARTS))
        futures: list[Future[dict[str, Any]]] = []
        pending: set[Future[dict[str, Any]]] = set()
        pool = ThreadPoolExecutor(self._parallel, thread_name_prefix="frepo-s3-part")
        try:
            for number, start in enumerate(range(0, size, part_size), 1):
                with self._lent_buffer(min(part_size, size - start)) as (part, lent):
                    read_part(content, part)
                    if len(pending) == self._parallel:
                        done, pending = wait(pending, return_when=FIRST_COMPLETED)
                        _raise_failure(done)
                    futures.append(pool.submit(self._send_part, target, number, part))
                    lent.pop_all()
                futures[-1].add_done_callback(partial(self._give_back, part))
                pending.add(futures[-1])
            return [future.result() for future in futures]
        finally:
            # A part that arrives after the abort would stay, so wait for all of them.
            pool.shutdown(wait=True, cancel_futures=True)

    def _send_part(self, target: dict[str, str], number: int, part: bytearray) -> dict[str, Any]:
        checksum = checksum_of(part, self._checksums)
        with translated(target["Key"]):
            answer = self._client.upload_part(**target, PartNumber=number, Body=part, **checksum)
        return {"PartNumber": number, "ETag": answer["ETag"]}

    @contextmanager
    def _lent_buffer(self, size: int) -> Iterator[tuple[bytearray, ExitStack]]:
        """Wait for the buffer of a part. It is returned at the end, unless `pop_all` was called on the stack."""
        buffer = self._buffers.get()
        with ExitStack() as lent:
            lent.callback(lambda: self._buffers.put(buffer))
            if len(buffer) != size:
                buffer = bytearray()  # free the old one first
                buffer = bytearray(size)
            yield buffer, lent

    def _give_back(self, buffer: bytearray, done: Future[dict[str, Any]]) -> None:
        """Return the buffer of a part that was sent, or will not be sent."""
        self._buffers.put(buffer)

    @contextmanager
    def _started(self, name: str) -> Iterator[dict[str, str]]:
        """Start an upload; abort it after any exception of the content, the server or Ctrl-C."""
        with translated(name):
            answer = self._client.create_multipart_upload(Bucket=self._bucket, Key=name)
        target = {"Bucket": self._bucket, "Key": name, "UploadId": answer["UploadId"]}
        try:
            yield target
        except BaseException:
            self._abort(target)
            raise

    def _abort(self, target: dict[str, str]) -> None:
        try:
            with translated(target["Key"]), suppress(self._client.exceptions.NoSuchUpload):
                self._client.abort_multipart_upload(**target)
        except StorageError as error:
            log.warning("parts of the upload %s of %s may remain: %s", target["UploadId"], target["Key"], error)


def _raise_failure(done: set[Future[dict[str, Any]]]) -> None:
    for future in done:
        future.result()
