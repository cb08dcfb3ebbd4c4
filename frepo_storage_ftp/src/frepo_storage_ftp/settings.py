"""The settings of the storage `ftp`."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr, field_validator

from frepo_core.plugins import StorageSettings


def _octal(value: Any) -> Any:
    if isinstance(value, str):
        return int(value, 8) if value.strip() else None
    return value


OptionalMode = Annotated[Annotated[int, Field(ge=0, le=0o7777)] | None, BeforeValidator(_octal)]


def _empty_is_none(value: Any) -> Any:
    return None if value == "" else value


class FtpSettings(StorageSettings):
    """`fs.ftp.*`, `FS_FTP_*`."""

    host: str = Field(min_length=1, description="The server's name, as its certificate has it.")
    port: int = Field(21, ge=1, le=65535, description="The port of the control connection.")
    username: str = Field(description="The user to log in as.")
    password: SecretStr = Field(description="The user's password.")
    root: str = Field("", description="The folder of the blobs; empty: where the login leads. Made when missing.")
    ssl: bool = Field(False, description="Speak TLS on both channels (explicit, AUTH TLS); without it nothing is sent.")
    ssl_ca_file: Annotated[Path | None, BeforeValidator(_empty_is_none)] = Field(
        None, description="Certificates (PEM) to trust instead of the system's."
    )
    ssl_verify: bool = Field(True, description="Check the certificate and its host name; `false` is for tests only.")
    passive: bool = Field(True, description="Open data connections to the server; `false`: the server opens them.")
    ignore_passive_address: bool = Field(
        True, description="Take the control connection's address for data, whatever the server's reply to PASV says."
    )
    timeout: float = Field(30, gt=0, description="Seconds to wait for any answer of the server.")
    pool_size: int = Field(
        4, ge=0, description="Connections kept open between calls. More are opened while more threads work at once."
    )
    file_permissions: OptionalMode = Field(
        None, description="Mode of a blob's file, in octal, set by SITE CHMOD; empty: left to the server."
    )
    directory_permissions: OptionalMode = Field(
        None, description="Mode of the folders that are made, in octal; empty: left to the server."
    )

    @field_validator("host", "username", "password", "root")
    @classmethod
    def _one_line(cls, value: str | SecretStr) -> str | SecretStr:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if any(character in text for character in "\r\n\0"):
            raise ValueError("must be one line: FTP would take the next one for a command")
        return value
