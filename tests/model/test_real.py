"""The real services do what the model does: after each step, database and storages have the objects of the model.

Random walks through small worlds prefer the kinds of steps that were seen least.
"""

import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core.db.models import Content, File, Version
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.composition.container import Services
from frepo_core.services.content.ingest import Incoming
from model.gate import may_be_doomed
from model.guards import DESIGN
from model.real.places import settings
from model.real.services import Real
from model.real.telling import NotDoneError, NotDrivenError, things
from model.state import FOUND, SOUND, SUPERSEDED, State
from model.walk import World, steps
from model.worlds import world
from support.scale import IS_BIG

WORLDS = (
    world(uploads=2, deletions=1),
    world(contents=2, uploads=2, encodings=1),
    world(uploads=2, flips=1),
    world(contents=2, uploads=2, encodings=2, deletions=1),
    world(uploads=2, promotions=1),
    world(contents=2, uploads=2, encodings=2, deletions=1, flips=1),
    world(contents=2, uploads=3, encodings=2, deletions=2, promotions=1, flips=1),
)
STEPS = 60
# With these, a walk through a world with encodings begins.
TWO_UPLOADS = [f"an upload {does} {content} in A (no row)" for content in ("X", "Y") for does in ("stores", "commits")]
# The kinds of steps that the walks of the short form must have done, whatever else.
EXPECTED = {
    "a bit of … (found) flips",
    "a bit of … (present) flips",
    "a sweep finds … (no row)",
    "a version of … is deleted",
    "an upload commits … (no row)",
    "an upload leaves to a sweep … (doomed)",
    "an upload leaves to a sweep … (found)",
    "an upload sees … (present)",
    "an upload stores … (no row)",
    "an upload uses … (present)",
    "the job begins … (writing)",
    "the job stores … (writing)",
    "the planner wants … (writing)",
    "… (doomed) is deleted",
    "… (found) is doomed",
    "… (leaving) is doomed",
    "… (present) is read: damaged",
    "… (superseded) is doomed",
    "… (writing) becomes the current one",
    "… is promoted",
}


@pytest.fixture
def make_real(open_services, ini, tmp_path) -> Callable[[], Iterator[Real]]:
    """Make the services with two storages, the second one for second copies."""
    ini = settings(ini, tmp_path)

    @contextmanager
    def make_real() -> Iterator[Real]:
        folder = tmp_path / "service"
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            services = open_services(folder, ini)
            real = Real(services, *_clients(services), patch)
            try:
                yield real
            finally:
                real.uploads.end()
        services.database.engine.dispose()
        shutil.rmtree(folder)

    return make_real


def _clients(services: Services) -> tuple[Callable[[bytes], object], Callable[[str], object]]:
    token = services.tokens.generate(NewToken(roles=(Role.ADMINISTRATOR,), expires="never")).id
    sender = services.tokens.identify(token, address="127.0.0.1", user_agent="")
    collection = services.collections.create(CollectionChange(limits={COUNT: 50}, filename="dump.sql"), by=sender).id

    def push(content: bytes) -> object:
        return services.add_version.add(
            services.collections.get(collection), Incoming(stream=BytesIO(content)), by=sender
        )

    def delete(digest: str) -> None:
        query = select(Version.number).join(File, File.id == Version.file_id)
        query = query.join(Content, Content.id == File.content_id).where(Content.digest == digest)
        with services.database.reading() as session:
            number = session.scalar(query)
        services.versions.delete(collection, f"v{number}", by=sender)

    return push, delete


def next_steps(state: State, contents: int) -> list[tuple[str, State]]:
    """Return the steps of the model in this state, in an order that is always the same."""
    found = {(what, after) for what, after, _ in steps(state, DESIGN, contents)}
    return sorted(found, key=lambda step: (step[0], repr(step[1])))


def kind_of(what: str) -> str:
    """Return a step without the names in it."""
    return re.sub(r"(flipped )?[XYZ](-[XYZ])? in [ABC]|\b[XYZABC]\b", "…", what)


def assert_same_gate(real: Real, state: State) -> None:
    """What the gate of the model refuses, that of the service refuses, too."""
    for one in state.objects:
        if one.state in {SUPERSEDED, FOUND} and one.bytes and not may_be_doomed(state, one, DESIGN):
            about = (one.content, one.base, one.storage, one.state)
            assert True not in real.may_be_doomed(*about, is_sound=one.bytes == SOUND)


def test_random_walks_end_with_what_the_model_has(make_real):
    seen, done = Counter[str](), set[str]()

    for number in range(len(WORLDS) * (60 if IS_BIG else 3)):
        chance, around = random.Random(number), WORLDS[number % len(WORLDS)]
        with make_real() as real:
            _walk(real, around, chance, seen, done)

    assert set() == EXPECTED - done


def _walk(real: Real, around: World, chance: random.Random, seen: Counter[str], done: set[str]) -> None:
    state, told = around.start, list[str]()
    begins = TWO_UPLOADS if around.start.left.encodings else []
    for number in range(STEPS):
        options = next_steps(state, around.contents)
        options = [step for step in options if step[0] == begins[number]] if number < len(begins) else options
        if not options:
            return
        some = chance.sample(options, min(chance.choice((2, 20)), len(options)))
        what, after = min(some, key=lambda step: seen[kind_of(step[0])])
        try:
            real.do(what)
        except NotDrivenError:
            seen[kind_of(what)] += 1
            continue
        except NotDoneError as error:
            raise AssertionError(f"{error} {error.__cause__}: {told} and {what}") from error
        told.append(what)
        state = after
        seen[kind_of(what)] += 1
        done.add(kind_of(what))
        lacking, more = things(state) - real.things(), real.things() - things(state)
        assert not lacking and not more, "\n".join([*told, f"{lacking} {more}"])
        assert_same_gate(real, state)
