"""The storage `sftp` for frepo, as a third party would write it: blobs as files on an SFTP server."""

from frepo_core.plugins import StorageBackend, StorageSpec, hookimpl

from .settings import SftpSettings


def _build(settings: SftpSettings) -> StorageBackend:
    from .backend import SftpStorage  # imports paramiko only if this storage is used

    return SftpStorage(settings)


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Provide the storage `sftp`."""
    return [StorageSpec(name="sftp", settings=SftpSettings, build=_build, summary="files on an SFTP server")]
