"""Says what each storage is worth: what it promises, what it can decode, what was read, and what its fire would cost.

The figures are those of the records; `storage:verify` compares these with the bytes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, File, StoredObject, TrashEntry, Version
from frepo_core.domain.sizes import readable_size
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError
from frepo_core.services.content.objects.decodable import find_decodable
from frepo_core.services.content.objects.promises import find_promises
from frepo_core.services.content.objects.uses import is_used
from frepo_core.services.content.storages.write_guard import Presence
from frepo_core.services.foundation import Foundation

PAGE = 500
READ_WITHIN = timedelta(days=30)


@dataclass(kw_only=True)
class Amount:
    """A number of contents, and their bytes as people send them."""

    contents: int = 0
    size: int = 0

    def add(self, size: int) -> None:
        """Count one content."""
        self.contents += 1
        self.size += size


@dataclass(kw_only=True)
class Loss(Amount):
    """Contents, and how many versions, plain files and entries of the trash have them."""

    versions: int = 0
    files: int = 0
    trash: int = 0

    def lose(self, size: int, users: Counter[str]) -> None:
        """Count a content, and who uses it."""
        self.add(size)
        self.versions += users["versions"]
        self.files += users["files"]
        self.trash += users["trash"]

    def describe(self) -> str:
        """Return the figures as words for people."""
        contents = "1 content" if self.contents == 1 else f"{self.contents} contents"
        users = {"versions": self.versions, "files": self.files, "in the trash": self.trash}
        named = ", ".join(f"{number} {what}" for what, number in users.items() if number)
        return f"{contents} ({readable_size(self.size)}; {named or 'nothing uses them any more'})"


@dataclass(kw_only=True)
class StorageWorth:
    """What a storage is worth.

    :param promised: the contents whose versions and files are stored there, or want their second copies there
    :param decodable: those of them that it can decode
    :param read: those of these whose bytes there, and those of all that they need, were read within the time
    :param only_here: what a fire of it would cost: used contents that no other storage can decode that works
    :param trouble: why it does not work now, as far as is known without reading contents; None if it does
    """

    storage: str
    trouble: str | None = None
    promised: Amount = field(default_factory=Amount)
    decodable: Amount = field(default_factory=Amount)
    read: Amount = field(default_factory=Amount)
    only_here: Loss = field(default_factory=Loss)

    @property
    def lacks(self) -> int:
        """The number of contents that it promises and cannot decode."""
        return self.promised.contents - self.decodable.contents


@struct
class StorageCheck:
    """The storages by name, and what no storage can decode any more."""

    storages: Sequence[StorageWorth]
    lost: Loss


def check_storages(
    base: Foundation, *, read_within: timedelta = READ_WITHIN, progress: Callable[[int], None] = lambda contents: None
) -> StorageCheck:
    """Compare all used contents with what each storage can decode, and return the figures.

    It takes some hundred bytes of memory for each content in each storage. `progress` is called with the number of the
    contents that were compared.
    """
    count, done = _Count(base, read_within), 0
    for page in _pages(base.database):
        with base.database.reading() as session:
            promises = find_promises(session, base.backends, [row[0] for row in page])
            users = _count_users(session, [row[0] for row in page])
        for content_id, digest, size in page:
            count.add(digest, size, promises[content_id].storages, users[content_id])
        done += len(page)
        progress(done)
    return StorageCheck(storages=[count.worth[name] for name in sorted(count.worth)], lost=count.lost)


class _Count:
    """Counts contents by what the storages can decode at its beginning."""

    def __init__(self, base: Foundation, read_within: timedelta) -> None:
        backends = base.backends
        with base.database.reading() as session:
            since = read_clock(session) - read_within
            names = {*backends.configured, *session.scalars(select(StoredObject.storage).distinct())}
            self._decodable = {name: find_decodable(session, name) for name in names}
            self._read = {name: find_decodable(session, name, read_since=since) for name in names}
        self.worth = {name: StorageWorth(storage=name, trouble=_find_trouble(base.presence, name)) for name in names}
        # What a storage keeps for others burns with it, and one that does not work is of no use then.
        self._fires = {name: {name, *backends.find_users(name)} for name in names}
        self._broken = {name for name, one in self.worth.items() if one.trouble}
        self.lost = Loss()

    def add(self, digest: str, size: int, promised: Iterable[str], users: Counter[str]) -> None:
        """Count a content that something uses."""
        has = {name for name, digests in self._decodable.items() if digest in digests}
        for name in promised:
            one = self.worth.setdefault(name, StorageWorth(storage=name))
            one.promised.add(size)
            if name in has:
                one.decodable.add(size)
            if digest in self._read.get(name, ()):
                one.read.add(size)
        for name, burnt in self._fires.items() if has else ():
            if has & burnt and has <= burnt | self._broken:
                self.worth[name].only_here.lose(size, users)
        if not has:
            self.lost.lose(size, users)


def _find_trouble(presence: Presence, storage: str) -> str | None:
    try:
        presence.look(storage)
    except FrepoError as error:
        return error.message
    return None


def _pages(database: Database) -> Iterator[Sequence[tuple[int, str, int]]]:
    """Yield id, digest and size of the used contents."""
    after = 0
    while True:
        query = select(Content.id, Content.digest, Content.size).where(Content.id > after, is_used())
        with database.reading() as session:
            rows = session.execute(query.order_by(Content.id).limit(PAGE)).all()
        if not rows:
            return
        yield [(row[0], row[1], row[2]) for row in rows]
        after = rows[-1][0]


def _count_users(session: Session, content_ids: Sequence[int]) -> Mapping[int, Counter[str]]:
    """Return how many versions, plain files and entries of the trash have each content."""
    of_files = select(File.content_id, func.count(), func.count(Version.id)).group_by(File.content_id)
    of_files = of_files.outerjoin(Version, Version.file_id == File.id).where(File.content_id.in_(content_ids))
    of_trash = select(TrashEntry.content_id, func.count()).where(TrashEntry.content_id.in_(content_ids))
    found: dict[int, Counter[str]] = {content_id: Counter() for content_id in content_ids}
    for content_id, files, versions in session.execute(of_files):
        found[content_id] += Counter(versions=versions, files=files - versions)
    for content_id, entries in session.execute(of_trash.group_by(TrashEntry.content_id)):
        found[content_id] += Counter(trash=entries)
    return found
