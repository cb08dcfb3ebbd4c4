"""A week of attacks, and what must hold meanwhile. Each broken promise is an `AssertionError`."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from frepo_core.db import utc_now
from frepo_core.db.models import Event, File, TrashEntry
from support.siege.adversary import LARGE, Adversary
from support.siege.besieged import Besieged

WEEK, DAY = timedelta(days=7), timedelta(days=1)
ALMOST = timedelta(days=6, hours=23)
LARGEST_UPLOAD = 3 * LARGE


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is in the trash: which version, when it was created, and how many files and entries use its bytes."""

    number: int
    digest: str
    created_at: datetime
    ends_at: datetime
    uses: int
    is_on_request: bool


@dataclass
class Week:
    """The backups of some nights, then seven days with attacks and backups."""

    besieged: Besieged
    there: dict[int, bool] = field(default_factory=dict)
    trash: dict[int, Entry] = field(default_factory=dict)
    created: dict[int, datetime] = field(default_factory=dict)
    ended_early: set[int] = field(default_factory=set)
    free: int | None = None
    was_low: bool = False

    def live(self) -> None:
        """Live through the week; check after each request and after the jobs of each night."""
        plan, start = self.besieged.plan, self.besieged.now
        begin = start + plan.nights * DAY
        for night in range(plan.nights):
            with self.besieged.at(start + night * DAY):
                self.besieged.back_up()
        adversary = Adversary(self.besieged)
        attacked = begin - DAY + plan.waits
        with self.besieged.at(attacked):
            self.look()
            must_stay = {number for number in self.there if number in self.besieged.good}
            (adversary.flood if plan.floods else adversary.burst)(self.after)
        for night in range(7):
            moment = begin + night * DAY
            if moment >= attacked + ALMOST:
                break
            with self.besieged.at(moment):
                self._night()
                must_stay |= {number for number in self.there if number in self.besieged.good}
                if self.besieged.draw.random() < 0.6:
                    with self.besieged.after(self.besieged.draw.choice((timedelta(), timedelta(hours=5)))):
                        adversary.burst(self.after)
        with self.besieged.at(attacked + ALMOST):
            self.besieged.night()
            self.after("jobs")
            lost = must_stay - self.there.keys() - self.trash.keys()
            assert not lost - self.ended_early, f"good versions are gone before a week: {sorted(lost)}"
            if not plan.capacity:
                assert not self.ended_early, f"versions ended early on a storage with room: {self.ended_early}"
                self._restore(must_stay)

    def _night(self) -> None:
        self.besieged.night()
        self.after("jobs")
        self.besieged.back_up()
        self.after("accepted")

    def look(self) -> None:
        """Read what is there and what is in the trash."""
        self.there = self.besieged.numbers()
        self.created |= self.besieged.ages()
        self.trash = read_trash(self.besieged)
        space = self.besieged.services.early_ending._space.measure()
        self.free, self.was_low = (space.free, bool(space.missing)) if space else (None, False)

    def after(self, what: str) -> None:
        """Compare the state with the one before a request, or before the jobs."""
        there, trash, free, was_low = self.there, self.trash, self.free, self.was_low
        self.look()
        self._check_trash(there, trash, what)
        needs_room = free is not None and (free < LARGEST_UPLOAD if what in ("accepted", "several") else was_low)
        ended = [trash[number] for number in trash.keys() - self.trash.keys() - self.there.keys()]
        early = [entry.number for entry in ended if entry.ends_at > utc_now()]
        early += there.keys() - self.there.keys() - self.trash.keys()
        assert not early or needs_room, f"{early} ended early although {free} bytes were free ({what})"
        self._check_protections(there, what)
        self._check_health()

    def _check_trash(self, there: dict[int, bool], trash: dict[int, Entry], what: str) -> None:
        now = utc_now()
        removed = there.keys() - self.there.keys()
        missing = removed - self.trash.keys()
        # One of two uploads at once may end what the other has moved into the trash.
        through = missing & read_early_ends(self.besieged) if what == "several" else set()
        assert missing <= through, f"removed, but not in the trash: {sorted(missing - through)} ({what})"
        self.ended_early |= through
        for number in removed - through:
            assert self.trash[number].ends_at == now + WEEK, f"v{number} ends at {self.trash[number].ends_at}"
        ended = [trash[number] for number in trash.keys() - self.trash.keys() - self.there.keys()]
        early = [entry for entry in ended if entry.ends_at > now]
        self.ended_early |= {entry.number for entry in early}
        # The order is defined for bytes that one entry alone uses; those of several end with the last of these.
        left = [self.trash[number] for number in trash.keys() & self.trash.keys() if self.trash[number].uses == 1]
        for number in through:
            younger = [
                other.number for other in left if not other.is_on_request and other.created_at > self.created[number]
            ]
            assert not younger, f"v{number} ended early at once, but the younger {younger} did not"
        for entry in early:
            younger = [
                other.number for other in left if not other.is_on_request and other.created_at > entry.created_at
            ]
            if entry.is_on_request:
                younger = [other.number for other in left if not other.is_on_request]
            assert not younger or entry.uses > 1, f"v{entry.number} ended early, but the younger {younger} did not"

    def _check_protections(self, there: dict[int, bool], what: str) -> None:
        besieged, gone = self.besieged, there.keys() - self.there.keys()
        assert besieged.pinned <= self.there.keys(), f"pinned versions are gone: {besieged.pinned - self.there.keys()}"
        normal = {number for number in gone if not there[number]}
        if what in ("refused", "no room", "forbidden", "jobs"):
            assert not gone, f"versions are gone although nothing was added: {sorted(gone)}"
        added = [number for number in self.there if number not in there]
        if len(added) == 1 and self.there[added[0]]:
            assert not normal, f"a version in quarantine evicted {sorted(normal)}"
        oldest = utc_now() - timedelta(days=besieged.plan.min_retention)
        young = [number for number in normal if self.created[number] > oldest]
        assert not young, f"versions younger than the retention are gone: {sorted(young)}"

    def _check_health(self) -> None:
        space = self.besieged.services.early_ending._space.measure()
        problems: Any = self.besieged.services.health.report("health-5ecre7").storage
        is_told = any("trash.min_free" in problem for problem in problems)
        assert is_told == bool(space and space.missing), f"free: {space}, /health: {problems}"

    def _restore(self, numbers: set[int]) -> None:
        """Do what an owner does after the attack: raise the limits, restore, and compare the bytes."""
        besieged, root = self.besieged, self.besieged.root
        change = {"limits": {"versions": 0, "total_size": 0, "version_size": 0}}
        assert root.call("PATCH", besieged.v1, json=change).status_int == 200
        for number in sorted(numbers - self.there.keys()):
            answer = root.post(f"{besieged.v1}/trash/{number}/restore", None)
            assert answer.status_int == 201, f"v{number} cannot be restored: {answer.text}"
        for number in numbers:
            answer = root.get(f"{besieged.v1}/versions/v{number}/content")
            assert answer.body == besieged.good[number], f"v{number} has other bytes"


def read_early_ends(besieged: Besieged) -> set[int]:
    """Return the numbers of the versions that ended early for room in the storage, according to the events."""
    query = select(Event).where(Event.kind == "trash.ended", Event.collection_id == besieged.collection)
    with besieged.services.database.reading() as session:
        ends = [event for event in session.scalars(query) if event.data["early"] and event.data["reason"] == "no_space"]
        return {event.version_number for event in ends if event.version_number is not None}


def read_trash(besieged: Besieged) -> dict[int, Entry]:
    """Return the entries of the collection by number."""
    files = select(func.count()).where(File.content_id == TrashEntry.content_id).scalar_subquery()
    other = select(TrashEntry.content_id, func.count().label("entries")).group_by(TrashEntry.content_id).subquery()
    query = select(TrashEntry, files + other.c.entries).join(other, other.c.content_id == TrashEntry.content_id)
    with besieged.services.database.reading() as session:
        return {
            row.number: Entry(
                number=row.number,
                digest=row.digest,
                created_at=row.created_at,
                ends_at=row.ends_at,
                uses=uses,
                is_on_request=row.reason in ("deleted", "collection_deleted"),
            )
            for row, uses in session.execute(query)
        }
