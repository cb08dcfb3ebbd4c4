"""Which storages a collection may name for its versions and their second copies."""

from frepo_core.errors import FieldsError

from .backends import NO_MIRROR, Backends


class StorageChoice:
    """Refuses storages that a collection cannot have."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    def check(self, name: str | None) -> None:
        """Raise `FieldsError` if a collection cannot name this storage; None and an empty name are the first one."""
        if not name or (problem := self._problem(name)) is None:
            return
        raise FieldsError({"storage": [problem]}, FieldsError.FORM)

    def check_mirror(self, name: str | None, storage: str | None) -> None:
        """Raise `FieldsError` if a collection with this storage cannot have second copies in the storage `name`.

        None is the mirror of the service, and `none` no mirror.
        """
        if name == NO_MIRROR:
            return
        if not name:
            if storage and (problem := problem_as_only_place(self._backends, storage)):
                raise FieldsError({"storage": [f"{problem}, or another mirror"]}, FieldsError.FORM)
            return
        problem = None
        if name not in self._backends.configured:
            problem = f"{name!r} is not one of the configured storages: {', '.join(self._backends.configured)}"
        elif users := self._backends.find_users(name):
            problem = f"the storage {users[0]!r} keeps its blobs in {name!r}: name {users[0]!r} instead"
        elif name == (storage or self._backends.current):
            problem = f"the versions themselves are in {name!r}: name another storage, or none"
        if problem:
            raise FieldsError({"mirror": [problem]}, FieldsError.FORM)

    def _problem(self, name: str) -> str | None:
        if name not in self._backends.configured:
            return f"{name!r} is not one of the configured storages: {', '.join(self._backends.configured)}"
        if users := self._backends.find_users(name):
            return f"the storage {users[0]!r} keeps its blobs in {name!r}: name {users[0]!r} instead"
        return None


def problem_as_only_place(backends: Backends, name: str) -> str | None:
    """Return why contents should not be stored in the storage for second copies alone; None for another storage."""
    if name != backends.mirror:
        return None
    return (
        f"{name!r} has the second copies: contents that are stored there only would have one copy. Name another storage"
    )
