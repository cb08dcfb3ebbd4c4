"""The settings of the storage `sftp`."""

from pydantic import Field, FilePath, SecretStr

from frepo_core.plugins import StorageSettings


class SftpSettings(StorageSettings):
    """`fs.sftp.*`, `FS_SFTP_*`."""

    host: str = Field(description="The server's name or address.")
    port: int = Field(22, ge=1, le=65535, description="Its port.")
    user: str = Field(description="Who logs in.")
    password: SecretStr = Field(SecretStr(""), description="The user's password, or that of the key.")
    key_file: FilePath | None = Field(None, description="The user's private key; none: the password alone.")
    known_hosts: FilePath = Field(description="The server's public key, as `ssh-keyscan -p PORT HOST` prints it.")
    directory: str = Field(description="The folder of the blobs; it must be there.")
    timeout: float = Field(30, gt=0, description="Seconds to wait for the server.")
