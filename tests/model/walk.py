"""Walks all states of a small world, the nearest first, and keeps the shortest story to each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from .environment import environment_steps
from .guards import DESIGN, Guards
from .properties import COPIED_TWICE, broken_at_rest, broken_by_restore, broken_by_step, broken_in_state
from .state import RAW, Object, State, Version
from .transitions import service_steps


@dataclass(frozen=True, kw_only=True)
class World:
    """A small world: where it begins, and how many contents there are."""

    start: State
    contents: int


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The number of states, and the first violation with the shortest story to it, if there is one."""

    states: int
    violation: str | None = None
    story: tuple[str, ...] = ()


def steps(state: State, guards: Guards, contents: int) -> Iterator[tuple[str, State, bool]]:
    """Yield (what happens, the state after it, whether the service does it)."""
    for what, after in service_steps(state, guards):
        yield what, after, True
    for what, after in environment_steps(state, guards, contents):
        yield what, after, False


_Parts = tuple[tuple[Object, ...], tuple[Version, ...]]


class _Canon:
    """Gives states that differ only in the names of contents one form. Equal objects are kept once in memory."""

    def __init__(self, contents: int) -> None:
        self._objects: dict[Object, Object] = {}
        self._renamings = [*permutations(range(contents))][1:]

    def __call__(self, state: State) -> State:
        first = self._sorted(state.objects, state.versions)
        best = min([first, *(self._renamed(state, names) for names in self._renamings)])
        return state._replace(objects=best[0], versions=best[1])

    def _sorted(self, objects: Iterable[Object], versions: Iterable[Version]) -> _Parts:
        keep = self._objects.setdefault
        return tuple(sorted(keep(one, one) for one in objects)), tuple(sorted(versions))

    def _renamed(self, state: State, names: Sequence[int]) -> _Parts:
        objects = [
            one._replace(content=names[one.content], base=RAW if one.base == RAW else names[one.base])
            for one in state.objects
        ]
        return self._sorted(objects, [one._replace(content=names[one.content]) for one in state.versions])


def walk(world: World, guards: Guards = DESIGN, *, most: int = 10_000_000) -> Walk:
    """Walk all states, and check what must be true. Ends at the first violation."""
    canon = _Canon(world.contents)
    start = canon(world.start)
    numbers, order, came, seen = {start: 0}, [start], [0], {world.start}

    def ends(broken: str, number: int, last: State | None = None) -> Walk:
        path = [order[number]]
        while number:
            number = came[number]
            path.append(order[number])
        path = path[::-1] if last is None else [*path[::-1], canon(last)]
        return Walk(states=len(order), violation=broken, story=tuple(_tell(world, guards, canon, path)))

    for number, state in enumerate(order):  # it grows meanwhile
        if broken := next(broken_in_state(state, guards), None):
            return ends(broken, number)
        is_at_rest = True
        for what, after, is_service in steps(state, guards, world.contents):
            is_at_rest = is_at_rest and not is_service
            if broken := next(_broken(state, after, what, guards, is_service=is_service), None):
                return ends(broken, number, after)
            if after in seen:
                continue
            seen.add(after)
            after = canon(after)
            if numbers.setdefault(after, len(order)) == len(order):
                order.append(after)
                came.append(number)
                if len(order) > most:
                    raise AssertionError(f"more than {most} states")
        if is_at_rest and (broken := next(broken_at_rest(state), None)):
            return ends(broken, number)
    return Walk(states=len(order))


def _broken(before: State, after: State, what: str, guards: Guards, *, is_service: bool) -> Iterator[str]:
    if is_service:
        yield from broken_by_step(before, after, what, guards)
    elif "is moved to" in what and after.objects != before.objects:
        yield COPIED_TWICE
    elif what.endswith("is restored"):
        yield from broken_by_restore(after)


def _tell(world: World, guards: Guards, canon: "_Canon", path: list[State]) -> list[str]:
    """Return what happens on a path, with the names of contents that they have from the start."""
    state, story = world.start, []
    for following in path[1:]:
        what, state = next(
            (what, after) for what, after, _ in steps(state, guards, world.contents) if canon(after) == following
        )
        story.append(what)
    return story
