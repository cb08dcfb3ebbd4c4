"""The settings of the storage `ftp`."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr, field_validator

from frepo_core.plugins import HARMLESS, FileMode, StorageSettings


def _empty_is_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


OptionalMode = Annotated[FileMode | None, BeforeValidator(_empty_is_none)]


class FtpSettings(StorageSettings):
    """`fs.ftp.*`, `FS_FTP_*`."""

    host: str = Field(
        min_length=1, description="The server's host name, as in its certificate.", json_schema_extra=HARMLESS
    )
    port: int = Field(21, ge=1, le=65535, description="The port of the control connection.")
    username: str = Field(description="The user name.", json_schema_extra=HARMLESS)
    password: SecretStr = Field(description="The user's password.")
    root: str = Field(
        "",
        description="The folder for blobs, created if missing; empty: the folder after login.",
        json_schema_extra=HARMLESS,
    )
    ssl: bool = Field(
        False,
        description="Use TLS on the control and data connections (explicit, AUTH TLS). If the server does not "
        "support it, nothing is sent.",
    )
    ssl_ca_file: Annotated[Path | None, BeforeValidator(_empty_is_none)] = Field(
        None,
        description="File with certificates (PEM) to trust instead of the system's.",
        json_schema_extra=HARMLESS,
    )
    ssl_verify: bool = Field(True, description="Verify the certificate and its host name; `false` is for tests only.")
    passive: bool = Field(
        True, description="Use passive mode: frepo opens the data connections; `false`: the server opens them."
    )
    ignore_passive_address: bool = Field(
        True,
        description="Open data connections to the address of the control connection and ignore the address in the "
        "reply to PASV.",
    )
    timeout: float = Field(30, gt=0, description="Timeout in seconds for each answer of the server.")
    pool_size: int = Field(4, ge=0, description="How many idle connections are kept open. Busy threads may open more.")
    file_permissions: OptionalMode = Field(
        None, description="Mode of blob files, in octal, set by SITE CHMOD; empty: the server's default."
    )
    directory_permissions: OptionalMode = Field(
        None, description="Mode of new folders, in octal; empty: the server's default."
    )

    @field_validator("host", "username", "password", "root")
    @classmethod
    def _one_line(cls, value: str | SecretStr) -> str | SecretStr:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if any(character in text for character in "\r\n\0"):
            raise ValueError("must be one line, as FTP would treat the next line as a command")
        return value
