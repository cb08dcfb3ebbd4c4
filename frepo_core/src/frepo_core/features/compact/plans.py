"""Plans one series of collections after the other, and knows at which hours uploads come."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, StoredObject
from frepo_core.errors import FrepoError
from frepo_core.services.content.storages.backends import Backends
from frepo_core.settings import Settings

from ..preview.preview import Previews
from .base_choice import find_owners, find_unsketched, plan
from .likeness import Sketch
from .planned_content import Step
from .series import read_groups
from .settled_collections import Mark, SettledCollections, read_marks
from .survey import Survey, Surveys

PAGE = 100
FORTNIGHT = timedelta(days=14)

# Returns the sketches of contents, as far as they can be made.
MakeSketches = Callable[[Iterable[StoredObject]], Mapping[int, Sketch]]


class Plans:
    """What is to be stored in another way, in all collections."""

    def __init__(self, database: Database, backends: Backends, previews: Previews, settings: Settings) -> None:
        self._database = database
        self._backends = backends
        self._surveys = Surveys(database, backends, previews, settings)
        self._settings = settings
        self._depth = settings.compact_depth
        self._settled = SettledCollections()

    def steps(
        self, failed: Callable[[str, FrepoError], None], keep_going: Callable[[], None], sketch: MakeSketches
    ) -> Iterator[tuple[Survey, Step]]:
        """Yield each step, in the order in which they are done. A collection is read when its turn comes.

        One in which nothing was to be done is only read again when it has changed, or a day later.
        `failed` is called with a collection whose strategy fails; the others are planned. `sketch` is asked for the
        sketches of what would become a difference or its base; what it returns none of counts as alike.
        """
        with self._database.reading() as session:
            mark_of, groups = read_marks(session), read_groups(session, self._backends)
        for name in self._collections():
            series = groups.get(name)
            if series and series.name != name:
                continue  # it is planned with the first one
            mark: Mark = (series, *map(mark_of, series.collections)) if series else mark_of(name)
            if self._settled.has(name, mark, utc_now()):
                continue
            keep_going()
            for survey, steps in self._plan(name, mark, failed, sketch):
                for step in steps:
                    yield survey, step

    def busy_hours(self) -> frozenset[int]:
        """Return at which hours (UTC) uploads came in the last two weeks, by the newest one of each collection."""
        with self._database.reading() as session:
            latest = select(Collection.arrived_at).where(Collection.arrived_at > utc_now() - FORTNIGHT)
            return find_busy_hours(time for time in session.scalars(latest) if time)

    def _collections(self) -> Iterator[str]:
        after = ""
        while True:
            query = select(Collection.id).where(Collection.id > after).order_by(Collection.id).limit(PAGE)
            with self._database.reading() as session:
                names = session.scalars(query).all()
            if not names:
                return
            yield from names
            after = names[-1]

    def _plan(
        self, name: str, mark: Mark, failed: Callable[[str, FrepoError], None], sketch: MakeSketches
    ) -> Iterator[tuple[Survey, list[Step]]]:
        """Yield what is to be done in a collection. The strategy is only asked if anything may be."""
        now, problems = utc_now(), list[str]()
        surveys = self._surveys.read(name, now)

        def note(what: str, error: FrepoError) -> None:
            problems.append(what)
            failed(what, error)

        is_settled = True
        for survey in surveys:
            known, steps = self._decide(survey, note, sketch)
            if steps:
                is_settled = False
                yield known, steps
        if is_settled and not problems:
            times = [time for survey in surveys if (time := survey.find_next_change(now, self._settings))]
            self._settled.note(name, mark, now, min(times, default=None))

    def _decide(
        self, survey: Survey, failed: Callable[[str, FrepoError], None], sketch: MakeSketches
    ) -> tuple[Survey, list[Step]]:
        """Return the survey with what decides about its steps, and these: ends of versions, then sketches."""
        asked, sketched = set[str](), set[int]()
        while True:
            steps = plan(survey.contents, depth=self._depth)
            if owners := find_owners(survey.contents, steps) - asked:
                asked |= owners
                for name in sorted(owners):
                    survey = self._with_ends(name, survey, failed)
                continue
            wanted = find_unsketched(survey.contents, steps) - sketched
            if not wanted:
                return survey, steps
            sketched |= wanted
            survey = survey.with_sketches(sketch(survey.rows[content_id] for content_id in sorted(wanted)))

    def _with_ends(self, name: str, survey: Survey, failed: Callable[[str, FrepoError], None]) -> Survey:
        try:
            return self._surveys.with_ends(name, survey)
        except FrepoError as error:
            failed(f"collection {name}", error)
            return survey.without(name)


HOURS = 24


def find_busy_hours(arrivals: Iterable[datetime]) -> frozenset[int]:
    """Return the hours of the day (UTC) in which more than twice as many uploads end as in an average one.

    They are at most eleven. If uploads come at all hours, none is busy.
    """
    counts = Counter(arrival.hour for arrival in arrivals)
    return frozenset(hour for hour, count in counts.items() if count * HOURS > 2 * counts.total())
