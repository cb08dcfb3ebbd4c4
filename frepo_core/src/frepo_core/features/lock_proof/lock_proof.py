"""Tries whether storages keep the bytes of locked versions: what their configuration says is not believed.

A probe is stored and retained for some minutes. Then all that would break a retention is tried with the keys of the
service. Only a success is a failure of the storage; an error on the way means that it is not known.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import Collection
from frepo_core.domain.naming import new_blob_key
from frepo_core.domain.structs import struct
from frepo_core.errors import BlobRetained, FrepoError, StorageError
from frepo_core.services.base.plugin_values import PluginValues
from frepo_core.services.content.storages.backends import Backends

log = logging.getLogger(__name__)

# Under which the values are kept: no plug-in has this name.
OWNER = "frepo"
PREFIX = "lock_proof/"
RETAINED_FOR = timedelta(minutes=5)
AGAIN_AFTER = timedelta(days=7)
SERVERS = 20  # behind a balancer, several answer in turn


class LockBrokenError(FrepoError):
    """A storage let somebody break what it had promised to keep."""


@struct
class LockProof:
    """What is known of the retention of one storage.

    - `retains`: false if it says that it cannot keep blobs.
    - `tried_at`, `proven_at`: when it was tried last, and when it refused everything last, in UTC.
    - `broken`: what it let happen at the last time.
    - `not_known`: why the last try has found nothing out.
    - `servers`: what its servers called themselves.
    - `probes`: the keys of probes that are retained, and until when.
    """

    retains: bool = True
    tried_at: datetime | None = None
    proven_at: datetime | None = None
    broken: Sequence[str] = ()
    not_known: str = ""
    servers: Sequence[str] = ()
    probes: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "LockProof":
        """Read a stored value."""
        times = {name: value[name] and datetime.fromisoformat(value[name]) for name in ("tried_at", "proven_at")}
        probes = {key: datetime.fromisoformat(until) for key, until in value["probes"].items()}
        return cls(**{**value, **times, "probes": probes})

    def value(self) -> Mapping[str, Any]:
        """Return what is stored."""
        times = {
            name: at and at.isoformat() for name, at in (("tried_at", self.tried_at), ("proven_at", self.proven_at))
        }
        return asdict(self) | times | {"probes": {key: until.isoformat() for key, until in self.probes.items()}}

    def is_due(self, now: datetime) -> bool:
        """Return whether it is time to try again, or nothing was found out, or something is broken."""
        return bool(self.tried_at is None or now >= self.tried_at + AGAIN_AFTER or self.not_known or self.broken)

    def describe(self) -> str:
        """Return a sentence for people, without its subject, the storage."""
        if self.broken:
            return f"{' and '.join(self.broken)}: locked versions are not safe from whoever has its keys"
        if not self.retains:
            return (
                "cannot keep locked versions: the lock holds against tokens, not against who can write to the storage"
            )
        proven = f"refused to break a lock on {self.proven_at:%Y-%m-%d}" if self.proven_at else "was never proven"
        return f"{proven}; the last try found nothing out: {self.not_known}" if self.not_known else proven


class LockProofs:
    """Tries storages, and knows what was found."""

    def __init__(self, database: Database, backends: Backends) -> None:
        self._database = database
        self._backends = backends
        self._tried = set[str]()

    def read(self) -> Mapping[str, LockProof]:
        """Return what is known, by the names of the storages that are configured."""
        with self._database.reading() as session:
            found = PluginValues(session, OWNER).items(PREFIX)
        proofs = {one.key.removeprefix(PREFIX): LockProof.of(one.value) for one in found}
        return {name: proof for name, proof in proofs.items() if name in self._backends.configured}

    def check(self) -> None:
        """Raise `LockBrokenError` if a storage let a lock be broken when it was tried last."""
        if broken := [
            f"The storage {name!r} {proof.describe()}" for name, proof in self.read().items() if proof.broken
        ]:
            raise LockBrokenError(
                ". ".join(broken)
                + ". Ask its maker, or lock versions in another storage; the job lock_proof tries again"
            )

    def run(self, *, now: datetime, keep_going: Callable[[], None]) -> Mapping[str, LockProof]:
        """Try the storages that are due, if anything is locked, and delete the probes whose time is over.

        A storage is due at the first run of this process, after a week, when its server calls itself differently, and
        until it is proven.
        """
        known = self.read()
        names = [name for name in self._backends.configured if not self._backends.find_users(name)]
        if not self._has_locks():
            names = [name for name in names if name in known and known[name].probes]
        for name in names:
            keep_going()
            proof = self._tidied(name, known.get(name, LockProof()), now)
            self._note(name, self._tried_if_due(name, proof, now))
        return self.read()

    def _has_locks(self) -> bool:
        with self._database.reading() as session:
            return session.scalar(select(Collection.id).where(Collection.locked > 0).limit(1)) is not None

    def _note(self, name: str, proof: LockProof) -> None:
        self._database.write(lambda session: PluginValues(session, OWNER).put(PREFIX + name, proof.value()))

    def _tidied(self, name: str, proof: LockProof, now: datetime) -> LockProof:
        """Delete the probes whose time is over. What cannot be deleted now stays for the next time."""
        left = dict(proof.probes)
        for key, until in proof.probes.items():
            if until < now:
                try:
                    self._backends.get(name).delete(key)
                except BlobRetained as error:
                    left[key] = error.until or now + RETAINED_FOR
                except StorageError as error:
                    log.warning("the probe %s in the storage %s was not deleted: %s", key, name, error.message)
                else:
                    del left[key]
        return replace(proof, probes=left)

    def _tried_if_due(self, name: str, proof: LockProof, now: datetime) -> LockProof:
        try:
            backend = self._backends.get(name)
            server = backend.server()
            if name in self._tried and server in proof.servers and not proof.is_due(now):
                return proof
            self._tried.add(name)
            content = os.urandom(32)
            key, until = new_blob_key(hashlib.sha256(content).hexdigest()), now + RETAINED_FOR
            servers = list(dict.fromkeys((server, *proof.servers)))[:SERVERS]
            proof = replace(proof, servers=servers, probes={**proof.probes, key: until})
            self._note(name, proof)  # the probe is deleted also after a crash
            backend.store(key, BytesIO(content), len(content))
            if not backend.retain(key, until):
                return LockProof(retains=False, tried_at=now, servers=servers, probes={**proof.probes, key: now})
            broken = list(backend.break_retention(key))
        except FrepoError as error:
            log.warning("the lock of the storage %s was not tried: %s", name, error.message)
            return replace(proof, tried_at=now, not_known=error.message)
        found = replace(proof, retains=True, tried_at=now, broken=broken, not_known="")
        return found if broken else replace(found, proven_at=now)
