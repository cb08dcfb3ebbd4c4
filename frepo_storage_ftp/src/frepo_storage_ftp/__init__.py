"""frepo's storage `ftp`: blobs are files on an FTP server, with or without TLS."""

from frepo_core.plugins import StorageBackend, StorageSpec, hookimpl

from .settings import FtpSettings

__all__ = ["FtpSettings", "frepo_storages"]


def _build(settings: FtpSettings) -> StorageBackend:
    from .backend import FtpStorage  # imported only if the storage is used

    return FtpStorage(settings)


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Register the storage `ftp`."""
    return [StorageSpec(name="ftp", settings=FtpSettings, build=_build, summary="an FTP server, with or without TLS")]
