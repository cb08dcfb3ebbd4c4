"""The import rules between the rooms, checked in the source."""

import ast
import graphlib
import importlib
import re
import tokenize
from collections import Counter

import pytest

from frepo_core import errors
from frepo_core.domain import permissions
from support.paths import ROOT
from support.source_tree import (
    CORE,
    CORE_FILES,
    FILES,
    PACKAGES,
    PLUGINS,
    SERVER,
    TESTS,
    TOOLS,
    core_imports,
    found_in,
    imported_files,
    imports,
    room,
    tree,
)

MAX_LINES = 300
TABLES = {"event_kinds.py"}  # of constants: they may be longer
MAX_TEST_LINES = 400
PUBLIC = ("plugins", "errors", "web", "testing", "cli", "tables")

# The other rooms, or single modules of them, that a room may import.
MAY_IMPORT = {
    "error_explanations": set(),
    "gc_pause": set(),
    "log_stream": set(),
    "errors": {"error_explanations"},
    "settings": {"errors", "domain"},
    "domain": {"errors"},
    "plugins": {
        "errors",
        "settings",
        "domain.naming",
        "domain.identity",
        "domain.backups.guard_values",
        "domain.backups.runs",
        "domain.event_kinds",
        "domain.sizes",
    },
    "tables": {"db"},
    "db": {"domain", "errors"},
    "services": {"domain", "db", "plugins", "errors", "error_explanations", "settings"},
    "web": {
        "services",
        "domain",
        "errors",
        "error_explanations",
        "settings",
        "plugins.SentContent",
        "plugins.Window",
        "plugins.context",
        "plugins.discovery",
        "plugins.console_slot",
        "plugins.pages",
    },
    "script": {"assemble", "cli", "gc_pause"},
    "features": {"services", "domain", "db", "plugins", "errors", "settings", "web", "cli"},
    "cli": {
        "services",
        "domain",
        "errors",
        "error_explanations",
        "gc_pause",
        "log_stream",
        "settings",
        "plugins",
        "db.migrations",
    },
}
# A feature may import these others.
FEATURES = {
    "aliases": set(),
    "preview": set(),
    "compact": {"preview"},
    "evidence": {"lock_proof"},
    "doctor": {"compact", "lock_proof", "second_copies", "storage_check"},
    "overview": {"compact", "recovery", "second_copies", "senders"},
    "documents": set(),
    "enrolment": {"recovery"},
    "fleet": {"enrolment", "restore_tests"},
    "inventory": set(),
    "lock_proof": set(),
    "senders": set(),
    "moves": set(),
    "recovery": set(),
    "restore": set(),
    "restore_tests": {"recovery"},
    "second_copies": set(),
    "storage_check": set(),
}
# Inside a room, a folder may import only those before it. Modules beside the folders are anywhere between them.
ORDER = {
    "services": "base events content access files backups upkeep reports composition",
    "services/content": "storages objects checks decoding remote chains blobs",
    "services/access": "policies visibility rotation",
    "services/backups": "rows rotation holds trash versions runs collections",
    "services/upkeep": "journal engine reconcile storage",
    "services/reports": "health",
    "web": "base schemas content viewer views conventions openapi v1 routing",
}
PURE = {"domain": {"sqlalchemy", "pyramid", "cliff", "pydantic", "os", "pathlib", "time", "socket", "logging"}}
ONLY_IN = {
    "pyramid": {"web", "features"},
    "webob": {"web"},
    "cliff": {"cli", "features"},
    "sqlalchemy": {"db", "services", "features"},
    "alembic": {"db"},
}


def is_allowed(name, allowed):
    return any(name == one or name.startswith(f"{one}.") for one in allowed)


def test_the_rules_name_every_room():
    assert {*MAY_IMPORT, "main", "pytest_plugin", "testing"} == {room(path) for path in CORE_FILES}


def test_a_room_imports_only_the_rooms_it_may():
    def forbidden(path):
        allowed = MAY_IMPORT[room(path)] | {room(path)}
        return [name for name in core_imports(path) if not is_allowed(name, allowed)]

    assert {} == found_in([path for path in CORE_FILES if room(path) in MAY_IMPORT], forbidden)


def test_no_rooms_import_each_other_in_a_circle():
    rooms = {room(path) for path in CORE_FILES}
    arrows = {name: set() for name in rooms}
    for path in CORE_FILES:
        arrows[room(path)] |= {name.partition(".")[0] for name in core_imports(path)} & rooms - {room(path)}

    assert {"web", "cli"} <= arrows["features"]
    graphlib.TopologicalSorter(arrows).prepare()  # raises `CycleError`, which names them


def test_only_the_composition_root_imports_features():
    nucleus = [path for path in CORE_FILES if room(path) != "features"]
    found = found_in(nucleus, lambda path: [name for name in core_imports(path) if is_allowed(name, {"features"})])

    assert {str((CORE / "__init__.py").relative_to(ROOT))} == set(found)


def test_within_a_room_imports_are_relative():
    # Alembic runs env.py and the revisions as scripts, in which relative imports fail.
    paths = [path for path in CORE_FILES if room(path) not in {"main", "testing"} and "migrations" not in path.parts]

    assert {} == found_in(paths, lambda path: [name for name in core_imports(path) if is_allowed(name, {room(path)})])


def test_relative_imports_stay_within_the_room():
    def leaving(path):
        package = (
            CORE / room(path) if path.is_relative_to(CORE) else next(p for p in PACKAGES if path.is_relative_to(p))
        )
        depth = len(path.relative_to(package).parts) if path.is_relative_to(package) else 0
        return [name for level, name in imports(path) if level > depth]

    assert {} == found_in(FILES, leaving)


def place(path, parent):
    """Return the folder or module of a room that a file belongs to."""
    return path.relative_to(CORE / parent).parts[0].removesuffix(".py")


def folders_in(parent):
    return {path.parent.name for path in (CORE / parent).glob("*/__init__.py")}


@pytest.mark.parametrize("parent", ORDER)
def test_a_folder_imports_only_those_before_it(parent):
    order = ORDER[parent].split()
    files = [path for path in CORE_FILES if path.is_relative_to(CORE / parent) and place(path, parent) in order]

    def later(path):
        inside = [other for other in imported_files(path) if other.is_relative_to(CORE / parent)]
        places = {place(other, parent) for other in inside} & set(order)
        return {name for name in places if order.index(name) > order.index(place(path, parent))}

    assert set(order) == folders_in(parent)
    assert {} == found_in(files, later)


def test_a_feature_imports_only_the_features_it_may():
    files = [path for path in CORE_FILES if path.is_relative_to(CORE / "features") and path.parent.name in FEATURES]

    def others(path):
        inside = [other for other in imported_files(path) if other.is_relative_to(CORE / "features")]
        return {place(other, "features") for other in inside} - {
            "__init__",
            path.parent.name,
            *FEATURES[path.parent.name],
        }

    assert set(FEATURES) == folders_in("features")
    assert {} == found_in(files, others)


def test_no_folders_and_modules_beside_them_import_each_other_in_a_circle():
    parents = {path.parent.parent for path in CORE_FILES if path.name == "__init__.py"} - {CORE.parent, CORE}

    assert {CORE / "services/backups", CORE / "plugins"} <= parents
    for parent in parents:
        arrows = {}
        for path in (path for path in CORE_FILES if path.is_relative_to(parent)):
            inside = (other for other in imported_files(path) if other.is_relative_to(parent))
            arrows.setdefault(place(path, parent), set()).update(place(other, parent) for other in inside)
        # What a folder takes from itself, and what its `__init__` offers, is no arrow.
        arrows = {name: others - {name, "__init__"} for name, others in arrows.items() if name != "__init__"}
        graphlib.TopologicalSorter(arrows).prepare()  # raises `CycleError`, which names them


def test_no_modules_import_each_other_in_a_circle():
    arrows = {path: {other for other in imported_files(path) if other != path} for path in FILES}

    assert sum(map(len, arrows.values())) > 1000
    graphlib.TopologicalSorter(arrows).prepare()  # raises `CycleError`, which names them


def test_no_module_imports_the_testing_kit():
    paths = [path for path in CORE_FILES if room(path) not in {"testing", "pytest_plugin"}]

    assert {} == found_in(paths, lambda path: [name for name in core_imports(path) if is_allowed(name, {"testing"})])


def test_a_plugin_imports_only_public_names_of_the_core():
    rooms = [importlib.import_module(f"frepo_core.{name}") for name in PUBLIC]
    offered = {f"{module.__name__}.{name}" for module in rooms for name in module.__all__}
    offered |= {module.__name__ for module in rooms}
    # The web console serves the file of the client, and says which version it is.
    offered |= {"frepo_client.zipapp.build", "frepo_client.__version__"}

    def beyond(path):
        own = path.relative_to(ROOT).parts[2]
        names = {name for level, name in imports(path) if level == 0 and name.startswith("frepo_")}
        return {name for name in names if name.partition(".")[0] != own} - offered - {"frepo_core"}

    assert {} == found_in([path for path in FILES if not path.is_relative_to(CORE)], beyond)


def test_the_core_names_no_plugin_distribution():
    plugins = [path for path in PLUGINS if path.name != "frepo_client"]  # a program of its own
    names = "|".join(re.escape(spelling) for p in plugins for spelling in (p.name, p.name.replace("_", "-")))

    def named(path):
        # The hooks for strategies and metrics have the same names as the distributions of the official ones, and that
        # for slots begins like that of the web console.
        hooks = (
            r"\bfrepo_(strategies|metrics)\b(?=\()|hook\.frepo_(strategies|metrics)\b|[`\"]frepo_metrics[`\"]"
            r"|\bfrepo_console_slots\b"
        )
        text = re.sub(hooks, "", path.read_text())
        return re.findall(names, text)

    assert {} == found_in(CORE_FILES, named)


def test_the_cores_metadata_names_no_plugin_distribution():
    text = (ROOT / "frepo_core/pyproject.toml").read_text()

    assert [] == [path.name for path in PLUGINS if path.name in text or path.name.replace("_", "-") in text]


def test_only_the_server_imports_waitress():
    def imported(path):
        return [name for _, name in imports(path) if name.partition(".")[0] == "waitress"]

    assert {} == found_in([path for path in FILES if not path.is_relative_to(SERVER)], imported)


def test_the_server_and_the_core_do_not_import_each_other():
    def own_imports(path):
        return {name.partition(".")[0] for level, name in imports(path) if level == 0 and name.startswith("frepo_")}

    assert {} == found_in([path for path in FILES if path.is_relative_to(SERVER)], own_imports)
    assert {} == found_in(CORE_FILES, lambda path: own_imports(path) - {"frepo_core"})


@pytest.mark.parametrize("name", PURE)
def test_domain_rules_do_no_input_or_output(name):
    used = {imported.partition(".")[0] for path in (CORE / name).glob("**/*.py") for _, imported in imports(path)}

    assert set() == used & PURE[name]


@pytest.mark.parametrize("framework", ONLY_IN)
def test_a_framework_stays_in_its_rooms(framework):
    rooms = {
        room(path)
        for path in CORE_FILES
        for level, name in imports(path)
        if level == 0 and name.partition(".")[0] == framework
    }

    assert rooms <= ONLY_IN[framework]


def test_no_rule_reads_the_clock_but_the_databases_room():
    def calls(path):
        return re.findall(r"datetime\.now\(|datetime\.utcnow\(|date\.today\(", path.read_text())

    rules = [path for path in CORE_FILES if room(path) in {"domain", "services", "db"}]
    assert {} == found_in([path for path in rules if path != CORE / "db/types.py"], calls)


def cached_statements(path):
    """Return the functions that keep a part of a statement by `functools.cache`, which two threads may build twice."""
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef) and node.returns]
    parts = re.compile(r"\b(Select|CompoundSelect|ColumnElement|CTE|Subquery)\b")
    return [
        node.name
        for node in functions
        if parts.search(ast.unparse(node.returns)) and any("cache" in ast.unparse(one) for one in node.decorator_list)
    ]


def test_a_part_of_a_statement_is_built_once_for_all_threads():
    assert {} == found_in(CORE_FILES, cached_statements)


def role_checks(path):
    """Return the lines that decide by roles: calls of `holds`, and comparisons with `.roles` or a `Role`."""
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            is_check = getattr(node.func, "attr", "") in {"holds", "holds_any"}
        else:
            is_check = isinstance(node, ast.Compare) and any(
                getattr(side, "attr", "") == "roles" or getattr(getattr(side, "value", None), "id", "") == "Role"
                for side in (node.left, *node.comparators)
            )
        if is_check:
            found.append(ast.unparse(node))
    return found


def test_only_the_access_module_checks_roles():
    deciding = {CORE / "domain" / "permissions.py", CORE / "domain" / "identity.py"}

    assert {} == found_in([path for path in CORE_FILES if path not in deciding], role_checks)


def test_each_access_rule_is_called_by_its_name():
    source = "".join(path.read_text() for path in FILES)
    asked = set(re.findall(r'\b(?:allows\(|has_permission\(|permission=)"([a-z._]+)"', source))

    assert set(permissions.RULES) == asked


def error_numbers():
    """Return the numbers of errors that are not a status of HTTP."""
    found = [getattr(one, "number", 0) for one in vars(errors).values() if isinstance(one, type)]
    return {number for number in found if isinstance(number, int) and number > 600}


def test_error_numbers_stand_in_the_room_of_errors_alone():
    pattern = re.compile(rf"\b({'|'.join(map(str, sorted(error_numbers())))})\b")
    others = [path for path in CORE_FILES if room(path) != "errors"]

    assert len(error_numbers()) > 20
    assert {} == found_in(others, lambda path: pattern.findall(path.read_text()))


def error_texts(path):
    """Return the whole texts that a file passes to error classes."""
    kinds = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)}
    calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    passed = [value for call in calls if getattr(call.func, "id", "") in kinds for value in call.args]
    return [value.value for value in passed if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def test_the_text_of_a_refusal_stands_once():
    counted = Counter(text for path in CORE_FILES for text in error_texts(path))

    assert len(counted) > 40
    assert [] == [text for text, times in counted.items() if times > 1]


def body(path):
    """Return the lines of a file below its imports."""
    ends = [node.end_lineno for node in tree(path).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return path.read_text().splitlines()[max(ends, default=0) :]


def test_a_file_is_short():
    files = [path for path in (*FILES, *TOOLS) if path.name not in TABLES]
    assert {} == found_in(files, lambda path: body(path)[MAX_LINES:])
    assert {} == found_in(TESTS, lambda path: body(path)[MAX_TEST_LINES:])


def test_a_module_opens_with_a_sentence():
    def other_opening(path):
        opening = (ast.get_docstring(tree(path)) or "").partition("\n")[0].rstrip()
        return None if opening.endswith((".", ":")) else f"opens with {opening!r}"

    assert {} == found_in([*FILES, *TOOLS], other_opening)


@pytest.mark.slow
def test_an_ignored_type_error_names_its_code():
    def unnamed(path):
        with path.open("rb") as file:
            comments = [token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT]
        return [text for text in comments if re.search(r"type:\s*ignore(?!\[[a-z-]+(, ?[a-z-]+)*\])", text)]

    assert {} == found_in(FILES, unnamed)
