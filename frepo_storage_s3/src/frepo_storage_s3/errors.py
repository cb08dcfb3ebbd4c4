"""Translates the exceptions of boto3 into those of the storage contract."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from frepo_core.plugins import BlobNotFound, StorageError, StorageFull, StorageUnavailable

# boto3 uses `404` for an answer to HEAD, which has no body.
ABSENT = {"NoSuchKey", "404", "NotFound"}
FULL = {"QuotaExceeded", "EntityTooLarge", "InsufficientStorage", "InsufficientCapacity", "XMinioStorageFull"}
# How servers refuse bytes without the checksum that they want, such as those of a bucket with Object Lock, or with one
# that they do not know.
CHECKSUM_REFUSALS = {
    "BadDigest",
    "InvalidArgument",
    "InvalidDigest",
    "InvalidRequest",
    "MissingContentMD5",
    "NotImplemented",
    "XAmzContentChecksumMismatch",
    "XAmzContentSHA256Mismatch",
}
SENDING = {"PutObject", "UploadPart", "CompleteMultipartUpload", "CreateMultipartUpload"}
NO_KEY = (
    "The S3 storage has no access key: set key and secret of the storage (fs.awss3v3.key, FS_AWSS3V3_KEY; of a further "
    "one storage.NAME.key, STORAGE_NAME_KEY), or AWS_ACCESS_KEY_ID and its secret, ~/.aws, or an instance role"
)
INSUFFICIENT_STORAGE = 507  # RFC 4918, 11.5


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise boto3's exceptions as one of the contract's three errors, with the original as the cause."""
    try:
        yield
    except ClientError as error:
        raise _refusal(what, error) from error
    except (ResponseParserError, ValueError) as error:
        raise StorageUnavailable(f"The server's answer is not valid S3: {error}") from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise StorageUnavailable(NO_KEY) from error
    except (BotoCoreError, HTTPError, OSError) as error:
        raise StorageUnavailable(f"The S3 storage does not answer: {error}") from error


def code_of(error: ClientError) -> str:
    """Return the server's error code."""
    return str(error.response.get("Error", {}).get("Code", ""))


def is_connect_error(error: StorageError) -> bool:
    """Return whether connecting failed, so that the request cannot have had an effect."""
    return isinstance(error.__cause__, EndpointConnectionError | ConnectTimeoutError)


def _refusal(what: str, error: ClientError) -> StorageError:
    code = code_of(error)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    if code in ABSENT:
        return BlobNotFound(f"No blob {what!r} in the S3 storage")
    if code in FULL or status == INSUFFICIENT_STORAGE:
        return StorageFull(f"The S3 storage has no room left ({code})")
    refusal = f"The S3 storage refuses {error.operation_name}: {code or status}"
    if code in CHECKSUM_REFUSALS and error.operation_name in SENDING:
        refusal += (
            ". If it wants another checksum, or knows none of the newer ones, change "
            "fs.awss3v3.request_checksum_calculation (FS_AWSS3V3_REQUEST_CHECKSUM_CALCULATION)"
        )
    return StorageUnavailable(refusal)
