"""The settings of the storage `awss3v3`."""

from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from frepo_core.plugins import StorageSettings

MIB = 1 << 20

Checksums = Literal["when_required", "when_supported"]


class S3Settings(StorageSettings):
    """`fs.awss3v3.*`, `FS_AWSS3V3_*`."""

    bucket: str = Field(min_length=1, description="The bucket; it must be there.")
    prefix: str = Field("", description="What the names of all objects begin with, e.g. `frepo/`.")
    region: str = Field("", description="The region; empty: as boto3 finds it (AWS_REGION, ~/.aws/config).")
    endpoint: str = Field("", description="The store's URL, where it is not AWS, e.g. `https://s3.example.org`.")
    key: SecretStr = Field(
        SecretStr(""), description="The access key id; empty: as boto3 finds it (environment, ~/.aws, instance role)."
    )
    secret: SecretStr = Field(
        SecretStr(""), description="The secret access key; given or left out together with `key`."
    )
    addressing_style: Literal["auto", "path", "virtual"] = Field(
        "auto", description="Where the bucket's name goes: `path` into the URL's path, `virtual` into its host."
    )
    request_checksum_calculation: Checksums = Field(
        "when_required",
        description="When uploads carry a checksum of AWS's newer kinds; several stores refuse `when_supported`.",
    )
    response_checksum_validation: Checksums = Field(
        "when_required", description="When the checksum of a download is asked for and compared."
    )
    connect_timeout: float = Field(5, gt=0, description="Seconds to wait for a connection.")
    read_timeout: float = Field(30, gt=0, description="Seconds to wait for the next bytes of an answer.")
    attempts: int = Field(3, ge=1, le=10, description="How often a request is made before it counts as failed.")
    connections: int = Field(32, ge=1, description="How many connections are kept open.")
    part_size: int = Field(
        8 * MIB, ge=5 * MIB, le=5 << 30, description="Bytes of one part; larger blobs are uploaded in parts."
    )
    parallel_parts: int = Field(
        4,
        ge=1,
        le=64,
        description="How many parts travel at once, of all uploads of a process; each takes its size in memory.",
    )

    @field_validator("prefix")
    @classmethod
    def _ends_with_slash(cls, prefix: str) -> str:
        parts = [part for part in prefix.split("/") if part]
        if {".", ".."} & set(parts):
            raise ValueError("must not have a part `.` or `..`")
        return "".join(f"{part}/" for part in parts)

    @model_validator(mode="after")
    def _key_with_secret(self) -> Self:
        if bool(self.key.get_secret_value()) != bool(self.secret.get_secret_value()):
            raise ValueError("key and secret are given together, or both left out")
        return self
