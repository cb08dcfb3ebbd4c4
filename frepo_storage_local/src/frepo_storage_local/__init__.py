"""frepo's storage `local`: blobs are files below one directory."""

from collections.abc import Iterable

from frepo_core.plugins import DoctorCheck, DoctorFinding, PluginContext, StorageSpec, hookimpl

from .backend import LocalStorage
from .examination import examine
from .settings import LocalSettings

__all__ = ["LocalSettings", "LocalStorage", "frepo_doctor_checks", "frepo_storages"]


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Register the storage `local`."""
    return [StorageSpec(name="local", settings=LocalSettings, build=LocalStorage, summary="files below a directory")]


def _examine(backend: LocalStorage, context: PluginContext) -> Iterable[DoctorFinding]:
    return examine(backend.root)


@hookimpl
def frepo_doctor_checks() -> list[DoctorCheck]:
    """Examine the folder of the blobs."""
    return [DoctorCheck(name="local", run=_examine, storage="local")]
