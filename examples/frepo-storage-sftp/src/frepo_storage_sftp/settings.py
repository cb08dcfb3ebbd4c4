"""The settings of the storage `sftp`."""

from pydantic import Field, FilePath, SecretStr

from frepo_core.plugins import StorageSettings


class SftpSettings(StorageSettings):
    """`fs.sftp.*`, `FS_SFTP_*`."""

    host: str = Field(description="Name or address of the server.")
    port: int = Field(22, ge=1, le=65535, description="Port of the server.")
    user: str = Field(description="User name for the login.")
    password: SecretStr = Field(SecretStr(""), description="Password of the user, or of the key.")
    key_file: FilePath | None = Field(None, description="Private key of the user; default: password only.")
    known_hosts: FilePath = Field(
        description="File with the public key of the server, from `ssh-keyscan -p PORT HOST`."
    )
    directory: str = Field(description="Folder for the blobs; it must exist.")
    timeout: float = Field(30, gt=0, description="Timeout in seconds.")
