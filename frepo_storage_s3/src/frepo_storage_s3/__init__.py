"""frepo's storage `awss3v3`: blobs are objects in a bucket of an S3-compatible server."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from frepo_core.plugins import DoctorCheck, DoctorFinding, PluginContext, StorageBackend, StorageSpec, hookimpl

from .settings import S3Settings

if TYPE_CHECKING:
    from .backend import S3Storage

__all__ = ["S3Settings", "frepo_doctor_checks", "frepo_storages"]


def _build(settings: S3Settings) -> StorageBackend:
    from .backend import S3Storage  # importing boto3 takes half a second

    return S3Storage(settings)


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Register the storage `awss3v3`."""
    return [
        StorageSpec(name="awss3v3", settings=S3Settings, build=_build, summary="a bucket of an S3-compatible server")
    ]


def _examine(backend: "S3Storage", context: PluginContext) -> Iterable[DoctorFinding]:
    from .examination import examine

    return examine(backend)


@hookimpl
def frepo_doctor_checks() -> list[DoctorCheck]:
    """Examine the bucket and the connection."""
    return [DoctorCheck(name="awss3v3", run=_examine, storage="awss3v3", deadline=30)]
