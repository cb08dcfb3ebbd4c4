"""Compares uploads to an S3 store with boto3's transfer to the same store."""

import io
import json
import os
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from support.servers.service import Service

from .harness.client import PersistentConnection, fetch, make_file, post_file, stamp
from .harness.measure import Results, Sizes, alternate, compare, timed
from .harness.world import folder, frepo, headers
from .memory import s3
from .transfers import name

MANY, THREADS, SMALL = 100, 8, 4096


class _Nowhere(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


def run(results: Results, sizes: Sizes) -> None:
    """Measure both ways."""
    with s3(results) as environment:
        if environment is None:
            return
        with folder() as where, frepo(where / "service", **environment) as service:
            client = _client(environment)
            file = make_file(where / "file", sizes.middle)
            keys: list[str] = []

            def put() -> float:
                stamp(file)
                with file.open("rb") as content:
                    return timed(lambda: client.upload_fileobj(content, "frepo", "boto3"))()

            def upload() -> float:
                stamp(file)
                seconds = timed(
                    lambda: keys.append(post_file(service.address, name(), file, headers(service))["filename"])
                )()
                _forget(client, service)
                return seconds

            up = alternate({"ours": upload, "boto3": put})
            kept = post_file(service.address, name(), file, headers(service))["filename"]
            down = alternate(
                {
                    "ours": timed(lambda: fetch(service.address, f"/repository/file/{kept}")),
                    "boto3": timed(lambda: client.download_fileobj("frepo", "boto3", _Nowhere())),
                }
            )
            _small_objects(results, service, client)
    size = f"{sizes.middle >> 20} MiB"
    results.add(compare("stores", f"S3 upload of {size} : upload_fileobj", up["ours"], up["boto3"], reach=1.2))
    results.add(compare("stores", f"S3 download of {size} : download_fileobj", down["ours"], down["boto3"], reach=1.2))


def _small_objects(results: Results, service: Service, client: Any) -> None:
    """Send and fetch many small files in eight threads, each with one open connection, and the same with boto3.

    frepo may answer the downloads from its cache of small contents.
    """
    own, prefix = threading.local(), "boto3-small"
    names: list[str] = []

    def ask(method: str, path: str, body: bytes | None = None) -> bytes:
        if not hasattr(own, "connection"):
            own.connection = PersistentConnection(service.address, headers(service))
        answer: bytes = own.connection.ask(method, path, body)
        return answer

    def upload(number: int) -> None:
        path = f"/repository/file/upload?fileName={uuid.uuid4().hex}.bin"
        names.append(json.loads(ask("POST", path, os.urandom(SMALL)))["filename"])

    with ThreadPoolExecutor(THREADS) as threads:

        def all_of(work: Callable[[int], object]) -> Callable[[], float]:
            return timed(lambda: list(threads.map(work, range(MANY))))

        up = alternate(
            {
                "ours": all_of(upload),
                "boto3": all_of(
                    lambda number: client.put_object(Bucket="frepo", Key=f"{prefix}-{number}", Body=os.urandom(SMALL))
                ),
            }
        )
        down = alternate(
            {
                "ours": all_of(lambda number: ask("GET", f"/repository/file/{names[-1 - number]}")),
                "boto3": all_of(
                    lambda number: client.get_object(Bucket="frepo", Key=f"{prefix}-{number}")["Body"].read()
                ),
            }
        )
    for what, samples in (("uploads", up), ("downloads", down)):
        rates = [[MANY / seconds for seconds in samples[name]] for name in ("ours", "boto3")]
        text = f"S3, {MANY} {what} of 4 KiB in {THREADS} threads : boto3"
        results.add(compare("stores", text, *rates, reach=0.7, is_most=False, unit="/s"))


def _client(environment: dict[str, str]) -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=environment["FS_AWSS3V3_ENDPOINT"],
        region_name=environment["FS_AWSS3V3_REGION"],
        aws_access_key_id=environment["FS_AWSS3V3_KEY"],
        aws_secret_access_key=environment["FS_AWSS3V3_SECRET"],
        config=Config(s3={"addressing_style": "path"}),
    )


def _forget(client: Any, service: Service) -> None:
    """Delete the uploads from the store, which is in memory."""
    for one in client.list_objects_v2(Bucket="frepo").get("Contents", []):
        if one["Key"] != "boto3":
            client.delete_object(Bucket="frepo", Key=one["Key"])
