"""The settings of the storage `awss3v3`."""

from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from frepo_core.plugins import HARMLESS, StorageSettings

MIB = 1 << 20

Checksums = Literal["when_required", "when_supported"]
Mode = Literal["off", "compliance", "governance"]  # of Object Lock


class S3Settings(StorageSettings):
    """`fs.awss3v3.*`, `FS_AWSS3V3_*`."""

    bucket: str = Field(min_length=1, description="The bucket; it must exist.", json_schema_extra=HARMLESS)
    prefix: str = Field(
        "", description="Prefix of the names of all objects, e.g. `frepo/`.", json_schema_extra=HARMLESS
    )
    region: str = Field(
        "",
        description="The region; empty: the one that boto3 finds (AWS_REGION, ~/.aws/config).",
        json_schema_extra=HARMLESS,
    )
    endpoint: str = Field(
        "",
        description="The URL of the server if it is not AWS, e.g. `https://s3.example.org`.",
        json_schema_extra=HARMLESS,
    )
    key: SecretStr = Field(
        SecretStr(""),
        description="The access key id; empty: the one that boto3 finds (environment, ~/.aws, instance role).",
    )
    secret: SecretStr = Field(
        SecretStr(""), description="The secret access key. Set it together with `key`, or leave both empty."
    )
    addressing_style: Literal["auto", "path", "virtual"] = Field(
        "auto", description="Where URLs contain the bucket's name: `path` in the path, `virtual` in the host name."
    )
    request_checksum_calculation: Checksums = Field(
        "when_required",
        description="`when_supported`: uploads include one of AWS's newer checksums (CRC32), which several "
        "S3-compatible servers refuse; `when_required`: their MD5, which buckets with Object Lock accept, too.",
    )
    response_checksum_validation: Checksums = Field(
        "when_required", description="When the checksums of downloads are requested and compared."
    )
    object_lock: Mode = Field(
        "off",
        description="`compliance` or `governance`: blobs of locked versions are kept with S3 Object Lock until the "
        "lock ends, in this mode. The bucket needs Object Lock, without a default retention.",
        json_schema_extra=HARMLESS,
    )
    connect_timeout: float = Field(5, gt=0, description="Timeout in seconds for connecting.")
    read_timeout: float = Field(30, gt=0, description="Timeout in seconds for the next bytes of an answer.")
    attempts: int = Field(3, ge=1, le=10, description="How often a request is tried before it fails.")
    part_size: int = Field(
        8 * MIB, ge=5 * MIB, le=5 << 30, description="Size of one part in bytes; larger blobs are uploaded in parts."
    )
    parallel_parts: int = Field(
        4,
        ge=1,
        le=64,
        description="How many parts all uploads of a process send at the same time; each part is held in memory.",
    )

    @field_validator("prefix")
    @classmethod
    def _ends_with_slash(cls, prefix: str) -> str:
        parts = [part for part in prefix.split("/") if part]
        if {".", ".."} & set(parts):
            raise ValueError("must not contain `.` or `..` as a segment")
        return "".join(f"{part}/" for part in parts)

    @model_validator(mode="after")
    def _key_with_secret(self) -> Self:
        if bool(self.key.get_secret_value()) != bool(self.secret.get_secret_value()):
            raise ValueError("key and secret are given together, or both left out")
        return self
