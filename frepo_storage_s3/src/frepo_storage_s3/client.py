"""The boto3 client, with limited timeouts and retries, so that an unavailable server is reported soon."""

from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from frepo_core.plugins import ConfigurationError

from .settings import S3Settings

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
