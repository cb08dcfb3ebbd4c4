"""The files of the source, and what they import."""

import ast
import functools

from support.paths import ROOT

CORE = ROOT / "frepo_core/src/frepo_core"
SERVER = ROOT / "frepo_server/src/frepo_server"
CLIENT = ROOT / "frepo_client/src/frepo_client"
PLUGINS = [
    path for path in sorted(ROOT.glob("frepo_*/src/frepo_*")) if path.is_dir() and path not in {CORE, SERVER, CLIENT}
]
# third_party: libraries of others, unchanged.
FILES = [path for path in sorted(ROOT.glob("frepo_*/src/frepo_*/**/*.py")) if "third_party" not in path.parts]
# The demonstration is no room: it is a client of the services that no wheel contains.
TOOLS = sorted(ROOT.glob("tools/**/*.py"))
TESTS = sorted([*ROOT.glob("tests/**/*.py"), *ROOT.glob("examples/*/tests/**/*.py")])
CORE_FILES = [path for path in FILES if path.is_relative_to(CORE)]
PACKAGES = [SERVER, CLIENT, *PLUGINS]


def found_in(paths, look):
    """Return the violations in each file that has one. A test for each file and rule would be 1,500 tests."""
    return {str(path.relative_to(ROOT)): found for path in paths if (found := look(path))}


@functools.cache
def tree(path):
    return ast.parse(path.read_text())


@functools.cache
def imports(path):
    """Return (level, dotted name) of every import, `from a import b` as `a` and as `a.b`."""
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found += [(node.level, f"{module}.{alias.name}".strip(".")) for alias in node.names]
    return found


def room(path):
    """Return the room of a file of the core; `main` for the composition root."""
    first = path.relative_to(CORE).parts[0].removesuffix(".py")
    return "main" if first == "__init__" else first


def core_imports(path):
    """Return a file's absolute imports of the core, without `frepo_core.`."""
    names = [name for level, name in imports(path) if level == 0 and name.partition(".")[0] == "frepo_core"]
    return [name.removeprefix("frepo_core").lstrip(".") for name in names]


def imported_files(path):
    """Yield the files that a module's relative imports run, also of those that only types need."""
    for level, name in imports(path):
        place = path.parents[level - 1] if level else path
        for part in name.split("."):
            place /= part
            yield from (file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())
