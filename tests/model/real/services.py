"""Does the steps of the model with the real services, and says what then is in the database and in the storages.

What the service deletes right after a commit waits for the step of the model that deletes it: a process may be killed
before each of them.
"""

import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.content.blobs.blob_reader import BlobReader
from frepo_core.services.content.objects.found_objects import FoundObjects
from frepo_core.services.content.objects.gate import doom, may_end
from frepo_core.services.content.objects.settlement import Settlement
from frepo_core.testing import MemoryStorage
from model.state import DOOMED, LEAVING, NONE, PRESENT, RAW, SOUND, WANTED, WRITING, WRONG

from .makers import Copies, Encodings
from .places import DIGESTS, STORAGES, Places
from .telling import NotDoneError, NotDrivenError, Thing, told
from .uploads import Uploads

_OBJECT = r"(?P<flipped>flipped )?(?P<content>[XYZ])(?:-(?P<base>[XYZ]))? in (?P<storage>[ABC]) \((?P<state>[a-z ]+)\)"


class Real:
    """The real services, one step at a time."""

    def __init__(
        self,
        services: Any,
        push: Callable[[bytes], object],
        delete: Callable[[str], object],
        patch: pytest.MonkeyPatch,
        memory: dict[str, MemoryStorage] | None = None,
    ) -> None:
        """`push` uploads a content, `delete` deletes a version of the content with a digest. `memory`: see `Places`."""
        self._services = services
        self._delete = delete
        self.places = Places(services, memory)
        self._database, self._backends = services.database, services.backends
        self.uploads = Uploads(self.places, push, patch)
        self.copies, self.encodings = Copies(services, self.places), Encodings(services, self.places)
        self._reader = BlobReader(services.database, services.backends)
        patch.setattr(services.blobs, "collect", lambda content_ids: None)
        patch.setattr(services.blobs, "delete_objects", lambda object_ids: None)

    def things(self) -> Counter[Thing]:
        """Return the objects that have bytes."""
        rows = {(row.storage, row.key): row for row in self.places.rows()}
        making = {one.new.key: one for one in self.encodings if one.new}
        in_use, found = self.places.used(), Counter[Thing]()
        for number, storage in enumerate(STORAGES):
            for key in self.places.keys(storage):
                digest, base, state = parse_digest_in_key(key) or "", RAW, NONE
                if row := rows.get((storage, key)):
                    base, state = DIGESTS.index(row.base_digest) if row.base_digest else RAW, row.state
                elif one := making.get(key):
                    base, state = one.base, DOOMED if one.is_ended else WRITING
                sound = SOUND if self.places.is_sound(storage, key) else WRONG
                about = told(state, is_used=digest in in_use)
                found[Thing(DIGESTS.index(digest), number, base, sound, about)] += 1
        return found

    def do(self, what: str) -> None:
        """Do a step of the model. Raises `NotDoneError` or `NotDrivenError`."""
        for pattern, method in _STEPS.items():
            if match := re.fullmatch(pattern.replace("OBJECT", _OBJECT), what):
                named = match.groupdict()
                base = named.get("base")
                method(
                    self,
                    content="XYZ".index(named.get("content") or "X"),
                    base=RAW if base is None else "XYZ".index(base),
                    storage="ABC".index(named.get("storage") or "A"),
                    state=named.get("state") or "",
                    is_sound=not named.get("flipped"),
                )
                return
        raise NotDrivenError

    def may_be_doomed(self, content: int, base: int, storage: int, state: str, *, is_sound: bool) -> set[bool]:
        """Return what the gate says about these objects now."""
        relied = self._sound()
        with self._database.reading() as session:
            rows = [row for row in self.places.find(content, storage) if row.slot is None]
            these = [row for row in rows if self.places.matches(row, base, state, is_sound=is_sound)]
            return {may_end(session, self._backends, session.merge(row, load=False), relied) for row in these}

    def nothing(self, **_: Any) -> None:
        """Do nothing: the service does this within another step, or it changes no object that has bytes."""

    def start_seeing(self, content: int, storage: int, **about: Any) -> None:
        """Let an upload see bytes. The service does not look at those that ended or are known to be damaged."""
        rows = self.places.find(content, storage)
        if not any(row.slot is not None and row.state == PRESENT for row in rows):
            raise NotDrivenError
        self.uploads.start(content, storage, **about)

    def store(self, content: int, base: int, storage: int, **_: Any) -> None:
        """Store the bytes of a copy, or of an encoding."""
        if self.copies.has(content, storage):
            self.copies.store(content, storage)
        else:
            self.encodings.store(content, base, storage)

    def finish(self, content: int, base: int, storage: int, **_: Any) -> None:
        """Let a new object become the current one."""
        if not self._finish(content, base, storage):
            raise NotDoneError("the new object is not used")

    def finish_in_vain(self, content: int, base: int, storage: int, **_: Any) -> None:
        """Let a new object not become the current one."""
        if self._finish(content, base, storage):
            raise NotDoneError("the new object is used")

    def fail(self, content: int, base: int, storage: int, **_: Any) -> None:
        """Let a job find no source."""
        if self.copies.has(content, storage):
            self.copies.fail(content, storage)
        else:
            self.encodings.fail(content, base, storage)

    def read(self, content: int, storage: int, **_: Any) -> None:
        """Verify the current object."""
        self._reader.read(self.places.find_current(content, storage))

    def take(self, content: int, **_: Any) -> None:
        """Settle a content: an object that was found, or ended, may become the current one."""
        settlement = Settlement(self._database, self._backends)
        self._database.write(partial(settlement.settle, [self.places.content_id(content)], timedelta()))

    def find(self, content: int, storage: int, **_: Any) -> None:
        """Register bytes that have no row."""
        making = {one.new.key for one in self.encodings if one.new}
        for stat in self.places.memory[STORAGES[storage]].list():
            is_known = stat.key in self.places.keys_with_rows() | making
            if parse_digest_in_key(stat.key) == DIGESTS[content] and not is_known:
                self.uploads.grow_old(stat.key)
                FoundObjects(self._database, self._backends).register(STORAGES[storage], [stat], keeps=timedelta())
                return
        raise NotDoneError("there is nothing to find")

    def leave(self, content: int, **_: Any) -> None:
        """Do nothing, as the service: it lets what nothing uses end when it dooms it. A base is used until then."""
        if any(one.base == content and not one.is_ended for one in self.encodings):
            raise NotDrivenError

    def doom(self, content: int, base: int, storage: int, state: str, is_sound: bool) -> None:
        """Ask the gate."""
        rows = self.places.find(content, storage)
        is_ended = DIGESTS[content] not in self.places.used()
        was_released = is_ended and any(self.places.matches(row, base, DOOMED, is_sound=is_sound) for row in rows)
        if state == LEAVING:
            if not self._release(content, storage) and not was_released:
                raise NotDoneError("the gate refuses what nothing uses")
            return
        for row in rows:
            if self.places.matches(row, base, state, is_sound=is_sound) and self._doom(row.id):
                return
        if not was_released:  # together with another one
            raise NotDoneError(f"the gate refuses: {[(row.state, row.slot) for row in rows]}")

    def delete(self, content: int, base: int, storage: int, state: str, is_sound: bool) -> None:
        """Delete the bytes of what is doomed."""
        for row in self.places.find(content, storage):
            if row.state == WANTED and self.places.matches(row, base, WANTED, is_sound=is_sound):
                raise NotDrivenError  # it is doomed when the job tries again
            has_bytes = row.key in self.places.keys(row.storage)
            is_it = not has_bytes or self.places.matches(row, base, DOOMED, is_sound=is_sound)
            if row.state == DOOMED and is_it:
                self._services.blobs.gate.end(row)
                return
        self.encodings.delete_ended(base, storage)

    def flip(self, content: int, base: int, storage: int, state: str, is_sound: bool) -> None:
        """Flip a bit."""
        for row in self.places.find(content, storage):
            if self.places.matches(row, base, state, is_sound=is_sound):
                self.places.flip(row.storage, str(row.key))
                return
        raise NotDrivenError

    def delete_version(self, content: int, **_: Any) -> None:
        """Delete a version."""
        self._delete(DIGESTS[content])

    def promote(self, storage: int, **_: Any) -> None:
        """Promote a storage."""
        promotions = self._services.feature(SecondCopyServices).promotions
        promotions.promote(promotions.plan(STORAGES[storage]))

    def _finish(self, content: int, base: int, storage: int) -> bool:
        if self.copies.has(content, storage):
            return self.copies.finish(content, storage)
        return self.encodings.finish(content, base, storage)

    def _sound(self) -> set[int]:
        """Return the ids of the objects that are sound: the gate relies on what was read in the same run."""
        rows = [row for row in self.places.rows() if row.key in self.places.keys(row.storage)]
        return {row.id for row in rows if self.places.is_sound(row.storage, str(row.key))}

    def _release(self, content: int, storage: int) -> bool:
        """Doom what nothing uses. The service does so with first copies, and lets second ones begin to leave."""
        if STORAGES[storage] == self._backends.current:
            self._backends.journals.compare(STORAGES)
            content_id = self.places.content_id(content)
            return bool(self._database.write(lambda session: self._services.blobs.release(session, content_id)))
        leaving = [row for row in self.places.find(content, storage) if row.state == LEAVING]
        if not leaving:
            raise NotDrivenError
        return self._doom(leaving[0].id)

    def _doom(self, object_id: int) -> bool:
        relied = self._sound() - {object_id}
        return self._database.write(lambda session: doom(session, self._backends, object_id, relied)) is not None


_STEPS: dict[str, Callable[..., None]] = {
    "an upload stores OBJECT": lambda real, **about: real.uploads.start(**about),
    "an upload sees OBJECT": Real.start_seeing,
    "an upload (commits|deletes) OBJECT": lambda real, **about: real.uploads.commit_own(**about),
    "an upload uses OBJECT": lambda real, **about: real.uploads.commit_seen(**about),
    "an upload leaves to a sweep OBJECT": lambda real, **about: real.uploads.repeat_own(**about),
    "an upload sees no more OBJECT": lambda real, **about: real.uploads.repeat_seen(**about),
    "the job begins OBJECT": lambda real, **about: real.copies.begin(**about),
    "the planner wants OBJECT": lambda real, **about: real.encodings.plan(**about),
    "the job stores OBJECT( with a fault)?": Real.store,
    "OBJECT becomes the current one": Real.finish,
    "OBJECT is not used": Real.finish_in_vain,
    "OBJECT has no source": Real.fail,
    "OBJECT is read: (present|damaged|missing)": Real.read,
    "OBJECT is taken back": Real.take,
    "a sweep finds OBJECT": Real.find,
    "OBJECT is leaving": Real.leave,
    "OBJECT is doomed": Real.doom,
    "OBJECT is deleted": Real.delete,
    "a bit of OBJECT flips": Real.flip,
    "a version of (?P<content>[XYZ]) is deleted": Real.delete_version,
    "(?P<storage>[AB]) is promoted": Real.promote,
    "[XYZ] is wanted in [ABC]": Real.nothing,
    "OBJECT is not needed": Real.nothing,
    "a catalogue is written to [ABC]": Real.nothing,
}
