"""The drawings in docs/ show the packages and imports of the source, and were rendered from their text."""

import ast
import re
from html import unescape

import pytest

from support.paths import ROOT

CORE = ROOT / "frepo_core/src/frepo_core"
DRAWINGS = sorted((ROOT / "docs/drawings").glob("*.dot"))
PAGE = "".join((ROOT / "docs" / name).read_text() for name in ("architecture.md", "write-path.md"))
ROOMS = (ROOT / "docs/drawings/rooms.dot").read_text()
NODES = set(re.findall(r'^ +"([\w/]+)" \[label', ROOMS, re.MULTILINE))
ARROWS = re.findall(
    r'^ +"([\w/]+)" -> "([\w/]+)"(?: \[[^\]]*constraint[^\]]*\]| \[lhead[^\]]*\])?;$', ROOMS, re.MULTILINE
)


def place(node):
    """Return the folder or module that a node represents."""
    if node.startswith("frepo_"):
        return ROOT / node / "src" / node
    return CORE / node if (CORE / node).is_dir() else CORE / f"{node}.py"


def rooms_of(folder):
    return {path.name for path in folder.iterdir() if (path / "__init__.py").exists()}


def imported(path):
    """Yield the dotted names that a file of frepo imports."""
    package = path.relative_to(next(parent for parent in path.parents if parent.name == "src")).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            start = [".".join(package[: len(package) - node.level + 1])] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_each_room_of_the_drawing_is_in_the_tree():
    assert NODES
    assert [] == sorted(node for node in NODES if not place(node).exists())


def test_each_room_of_the_tree_is_in_the_drawing():
    distributions = {path.parent.name for path in ROOT.glob("frepo_*/pyproject.toml")} - {"frepo_core"}
    parts = {f"{room}/{part}" for room in ("web", "services") for part in rooms_of(CORE / room)}
    parts.add("services/foundation")  # a module, but a place of its own in the order

    assert distributions | parts | {"errors"} | rooms_of(CORE) - {"web", "services"} == NODES


def is_import(importer, used):
    room = f"frepo_core.{used.replace('/', '.')}"
    files = [place(importer)] if place(importer).is_file() else place(importer).rglob("*.py")
    return any(f"{name}.".startswith(f"{room}.") for path in files for name in imported(path))


def test_each_arrow_is_an_import():
    assert ARROWS
    assert [] == [arrow for arrow in ARROWS if not is_import(*arrow)]


@pytest.mark.parametrize("source", DRAWINGS, ids=[path.name for path in DRAWINGS])
def test_each_drawing_was_rendered_from_its_text(source):
    """Compare the texts, because versions of Graphviz differ in the layout."""
    words = {word for label in re.findall(r'label="([^"]+)"', source.read_text()) for word in label.split("\\n")}
    svg = source.with_suffix(".svg").read_text()
    shown = {unescape(text) for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg)}
    names = {unescape(name) for name in re.findall(r"<title>([^<]+)</title>", svg)}

    assert {word.strip() for word in words} == {text.strip() for text in shown}
    assert set(re.findall(r'^ +"([\w/-]+)" \[', source.read_text(), re.MULTILINE)) <= names


def test_each_path_that_a_page_names_is_there():
    paths = set(re.findall(r"`((?:[\w-]+/)*[\w-]+(?:/[\w-]+|\.(?:py|dot|toml)))`", PAGE))

    assert paths
    assert [] == sorted(path for path in paths if not (ROOT / path).exists() and not (CORE / path).exists())


def test_the_page_of_the_architecture_has_a_line_for_each_room():
    rooms = {f"{room}/{part}" for room in ("web", "services", "features") for part in rooms_of(CORE / room)}

    assert {"features/moves", "services/upkeep"} <= rooms
    assert [] == sorted(room for room in rooms if not re.search(rf"^\| `{room}[`/]", PAGE, re.MULTILINE))


def test_a_page_shows_each_drawing():
    assert [] == [drawing.stem for drawing in DRAWINGS if f"](drawings/{drawing.stem}.svg)" not in PAGE]
