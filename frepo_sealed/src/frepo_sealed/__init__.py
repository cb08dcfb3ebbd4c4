"""frepo's storage `sealed`: it encrypts what it keeps in another storage."""

import stat
from collections.abc import Iterator
from typing import cast

from frepo_core.plugins import (
    DoctorCheck,
    DoctorFinding,
    MissingSecretError,
    PluginContext,
    StorageBackend,
    Storages,
    StorageSpec,
    hookimpl,
)

from .settings import SealedSettings

EXAMINED = 1000  # names: a page of S3

__all__ = ["SealedSettings", "frepo_doctor_checks", "frepo_storages"]


def _build(settings: SealedSettings, storages: Storages) -> StorageBackend:
    from .backend import SealedStorage  # imports cryptography only if the storage is used
    from .key_file import parse_key, write_keys
    from .keys import KeyRing, missing_keys, read_keys

    path = settings.key_file

    def built(keys: KeyRing) -> SealedStorage:
        storage = SealedStorage(storages.get(settings.over), keys, key_file=path)
        storage.require_right_keys()
        return storage

    def enter(text: str) -> None:
        secret = parse_key(text)
        built(KeyRing([secret]))
        write_keys(path, f"{secret.hex()}\n")

    if not path.exists():
        what = f"Key of the sealed storage over {settings.over}, 64 hex digits"
        raise MissingSecretError(missing_keys(path), what=what, enter=enter)
    return built(read_keys(path))


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Register the storage `sealed`."""
    summary = "another storage, encrypted with a key of yours"
    return [StorageSpec(name="sealed", settings=SealedSettings, build=_build, summary=summary)]


def _examine(backend: StorageBackend, context: PluginContext) -> Iterator[DoctorFinding]:
    from .backend import SealedStorage

    sealed = cast(SealedStorage, backend)
    path = sealed.key_file
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        yield DoctorFinding(
            level="warning",
            message=f"Other users of this machine may read the keys in {path} (mode {mode:04o})",
            remedy=f"chmod 0600 {path}, and make it belong to the user of the service",
        )
    foreign, tried = sealed.count_foreign(EXAMINED)
    if foreign:
        yield DoctorFinding(
            level="problem",
            message=f"{foreign} of {tried} blobs of the sealed storage cannot be read with the keys in {path}",
            remedy="Add the key that they have to the end of the file; `frepo sealed:rotate` makes it superfluous",
        )


@hookimpl
def frepo_doctor_checks() -> list[DoctorCheck]:
    """Examine who may read the keys."""
    return [DoctorCheck(name="sealed", run=_examine, storage="sealed")]
