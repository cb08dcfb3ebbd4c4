"""frepo's storage `awss3v3`: blobs as objects in a bucket of an S3-compatible store."""

from frepo_core.plugins import StorageBackend, StorageSpec, hookimpl

from .settings import S3Settings

__all__ = ["S3Settings", "frepo_storages"]


def _build(settings: S3Settings) -> StorageBackend:
    from .backend import S3Storage  # boto3 takes half a second to import, and only this backend needs it

    return S3Storage(settings)


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Offer the storage `awss3v3`."""
    return [
        StorageSpec(name="awss3v3", settings=S3Settings, build=_build, summary="a bucket of an S3-compatible store")
    ]
