"""The list of breaks, `tests/breaks.toml`: what each replaces, and which test notices it."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.paths import ROOT, TESTS

LIST = TESTS / "breaks.toml"


@dataclass(frozen=True, kw_only=True)
class Break:
    """One line of the source that is replaced, the promise that this breaks, and the test that turns red.

    `before` is the line without its indentation. It is there once in its file, or once after the only line `within`, up
    to the next such line; `after` takes its place. Without text, the line is left out.
    """

    promise: str
    file: str
    before: str
    after: str
    test: str
    within: str | None = None

    @property
    def name(self) -> str:
        """Return what names the break in reports."""
        return f"{self.file}: {self.promise}"

    def apply(self, text: str) -> str:
        """Return the text of the file with the break. Raises `ValueError` if it does not fit."""
        lines = text.splitlines(keepends=True)
        place = self._find(lines)
        indentation = lines[place][: -len(lines[place].lstrip())]
        lines[place] = f"{indentation}{self.after}\n" if self.after else ""
        return "".join(lines)

    def _find(self, lines: list[str]) -> int:
        start = 0
        if self.within is not None:
            start = self._only(_places(lines, self.within), self.within)
        places = [place for place in _places(lines, self.before) if place >= start]
        return places[0] if self.within is not None and places else self._only(places, self.before)

    def _only(self, places: list[int], line: str) -> int:
        if len(places) != 1:
            raise ValueError(f"{self.file} has this line {len(places)} times, and not once: {line}")
        return places[0]

    def find_problem(self) -> str | None:
        """Return why the entry does not fit the tree any more, or None."""
        source = ROOT / self.file
        if not source.is_file():
            return f"{self.file} does not exist"
        if self.before == self.after:
            return f"{self.name}: before and after are the same"
        try:
            broken = self.apply(source.read_text())
            if source.suffix == ".py":
                ast.parse(broken)
        except (SyntaxError, ValueError) as error:
            return str(error)
        return self._find_problem_of_test()

    def _find_problem_of_test(self) -> str | None:
        path, _, name = self.test.partition("::")
        if not (ROOT / path).is_file():
            return f"{path} does not exist"
        tree = ast.parse((ROOT / path).read_text())
        marks = _find_marks(tree, name.partition("[")[0])
        if marks is None:
            return f"{path} has no test {name}"
        return f"{self.test} is costly, so the short form leaves it out" if "costly" in marks else None


def read_list(path: Path = LIST) -> list[Break]:
    """Return the breaks of a list."""
    return [Break(**entry) for entry in tomllib.loads(path.read_text())["breaks"]]


def _places(lines: list[str], line: str) -> list[int]:
    return [place for place, text in enumerate(lines) if text.strip() == line]


def _find_marks(tree: ast.Module, name: str) -> str | None:
    """Return the marks of a test, as text, or None if it is not there."""
    *classes, test = name.split("::")
    places: list[ast.Module | ast.ClassDef | ast.FunctionDef] = [tree]
    for kind, part in [*((ast.ClassDef, each) for each in classes), (ast.FunctionDef, test)]:
        found = [node for node in places[-1].body if isinstance(node, kind) and node.name == part]
        if not found:
            return None
        places.append(found[-1])
    return " ".join(mark for place in places for mark in _marks_of(place))


def _marks_of(place: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[str]:
    """Yield the marks of a module, a class or a test: its decorators, and what it calls `pytestmark`."""
    yield from map(ast.unparse, getattr(place, "decorator_list", ()))
    for node in place.body:
        if isinstance(node, ast.Assign) and "pytestmark" in ast.dump(node):
            yield ast.unparse(node)
