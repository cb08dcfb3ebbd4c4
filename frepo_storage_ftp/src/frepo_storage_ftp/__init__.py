"""frepo's storage `ftp`: blobs as files on an FTP server, with or without TLS."""

from frepo_core.plugins import StorageSpec, hookimpl

from .backend import FtpStorage
from .settings import FtpSettings

__all__ = ["FtpSettings", "FtpStorage", "frepo_storages"]


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Offer the storage `ftp`."""
    return [
        StorageSpec(name="ftp", settings=FtpSettings, build=FtpStorage, summary="an FTP server, with or without TLS")
    ]
