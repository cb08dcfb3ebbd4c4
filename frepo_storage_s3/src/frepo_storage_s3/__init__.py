"""frepo's storage `awss3v3`: blobs are objects in a bucket of an S3-compatible server."""

from frepo_core.plugins import StorageBackend, StorageSpec, hookimpl

from .settings import S3Settings

__all__ = ["S3Settings", "frepo_storages"]


def _build(settings: S3Settings) -> StorageBackend:
    from .backend import S3Storage  # importing boto3 takes half a second

    return S3Storage(settings)


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Register the storage `awss3v3`."""
    return [
        StorageSpec(name="awss3v3", settings=S3Settings, build=_build, summary="a bucket of an S3-compatible server")
    ]
