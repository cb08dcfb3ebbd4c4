"""Requests to each operation of an OpenAPI document, and command lines of each command, made from their schemas."""

import argparse
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from support.scale import IS_BIG

# What a field of type string may be given, whatever it means: times, durations, sizes, names.
TEXTS = ("PT0S", "2001-01-01T00:00:00Z", *(("", "PT1S", "2999-01-01T00:00:00Z", "0") if IS_BIG else ()))
# Options that every report has.
_OF_TABLES = {"formatter", "columns", "quote_mode", "noindent", "max_width", "fit_width", "print_empty", "sort_columns"}
_OF_TABLES |= {"sort_direction", "variables", "prefix", "long"}
NUMBERS = (0, 1, *((1 << 40,) if IS_BIG else ()))
FORM = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nform\r\n--b--\r\n'


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request, as `webtest` takes it."""

    method: str
    url: str
    body: Any = None
    kind: str = ""

    @property
    def more(self) -> dict[str, Any]:
        """What `Client.call` takes by keyword."""
        headers = {"Content-Type": self.kind} if self.kind else {}
        return {"headers": headers, **({"json": self.body} if "json" in self.kind else {"body": self.body or b""})}


def requests_of(document: dict[str, Any], targets: Mapping[str, list[str]]) -> Iterator[tuple[str, Iterator[Request]]]:
    """Yield each operation, and its requests: to all targets, with each parameter and each value of each field alone.

    In the short form only the first target gets all values of fields.

    `targets` are the values of the parameters of paths. A parameter that is not in it gets all values of all others.
    """
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", _requests(document, path, method, operation, targets)


def _requests(
    document: dict[str, Any], path: str, method: str, operation: dict[str, Any], targets: Mapping[str, list[str]]
) -> Iterator[Request]:
    path = path.replace("/jobs/{name}", "/jobs/{job}")
    names = re.findall(r"{(\w+)}", path)
    all_values = sorted({value for values in targets.values() for value in values})
    parameters = [one for one in operation.get("parameters", []) if one["in"] == "query"]
    fixed = {one["name"]: one["schema"]["enum"] for one in operation.get("parameters", []) if "enum" in one["schema"]}
    queries = _queries(document, parameters, targets) if IS_BIG or method != "get" else [{}]
    bodies = list(_bodies(document, operation.get("requestBody", {}).get("content", {}), targets))
    for count, values in enumerate(
        itertools.product(*(targets.get(name) or fixed.get(name) or all_values for name in names))
    ):
        url = path
        for name, value in zip(names, values, strict=True):
            url = url.replace(f"{{{name}}}", quote(value))
        for query in queries:
            asked = f"{url}?{urlencode(query)}" if query else url
            yield Request(method=method.upper(), url=asked, **(bodies[0] if bodies else {}))
        for body in bodies[1:] if IS_BIG or not count else ():
            yield Request(method=method.upper(), url=url, **body)


def _queries(document: dict[str, Any], parameters: list[dict[str, Any]], targets: Any) -> list[dict[str, str]]:
    """Return no parameter, each one alone with each of its values, and all at once."""
    values = {
        one["name"]: [
            str(value).lower() if isinstance(value, bool) else str(value)
            for value in _values(document, one["schema"], targets, one["name"])
            if isinstance(value, (str, int, bool))
        ]
        for one in parameters
    }
    alone = [{name: value} for name, several in values.items() for value in several]
    together = {name: several[0 if name in targets else -1] for name, several in values.items() if several}
    return [{}, *alone, together]


def _bodies(document: dict[str, Any], content: dict[str, Any], targets: Any) -> Iterator[dict[str, Any]]:
    for kind, media in content.items():
        if "json" in kind:
            for value in _values(document, media["schema"], targets):
                yield {"body": value, "kind": kind}
        elif "form" in kind:
            yield {"body": FORM, "kind": f"{kind}; boundary=b"}
        else:
            yield {"body": b"", "kind": kind}
            yield {"body": b"of an attacker", "kind": kind}


def _values(document: dict[str, Any], schema: dict[str, Any], targets: Any, name: str = "") -> list[Any]:
    """Return values of a schema: of an object, each value of each property alone, with the required ones."""
    if "$ref" in schema:
        return _values(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], targets, name)
    if branches := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return [value for branch in branches for value in _values(document, branch, targets, name)]
    if "enum" in schema or "const" in schema:
        return list(schema.get("enum") or [schema["const"]])
    kinds = schema.get("type", "string")
    return [
        value
        for kind in (kinds if isinstance(kinds, list) else [kinds])
        for value in _of_type(kind, document, schema, targets, name)
    ]


def _of_type(kind: str, document: dict[str, Any], schema: dict[str, Any], targets: Any, name: str) -> list[Any]:
    if kind == "object":
        needed = {
            one: _values(document, schema["properties"][one], targets, one)[-1] for one in schema.get("required", [])
        }
        return [needed] + [
            needed | {one: value}
            for one, part in schema.get("properties", {}).items()
            for value in _values(document, part, targets, one)
        ]
    if kind == "array":
        return [[], *([value] for value in _values(document, schema.get("items", {}), targets, name))]
    known = {"boolean": [False, True], "null": [None], "integer": NUMBERS, "number": NUMBERS}
    return list(known.get(kind) or targets.get(name) or TEXTS)


def command_lines(parser: argparse.ArgumentParser, values: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Yield the arguments of a command: with all flags, and with all options that have values, too; in
    the long form also without, with each flag, and with each option and each of its values.

    `values` are those of an argument or an option by its name, and under "" those of any other name. Questions are
    answered by `--yes`.
    """
    arguments = [one for one in parser._actions if one.dest not in {"help", "follow", "dry_run", *_OF_TABLES}]
    flags = [one.option_strings[-1] for one in arguments if one.option_strings and one.nargs == 0]
    options = [one for one in arguments if one.option_strings and one.nargs != 0]
    always = [part for one in options if one.required for part in _given(one, values)[0]]
    yes = [flag for flag in flags if flag == "--yes"]
    others = [one for one in options if not one.required]
    known = [part for one in others if _name(one) in values for part in _given(one, values)[0]]
    extras = [flags, [*flags, *known]] if known else [flags]
    if IS_BIG:
        each = [parts for one in others for parts in _given(one, values)]
        extras += [yes, *([*yes, flag] for flag in flags), *([*yes, *parts] for parts in each)]
        extras += [[*yes, *known, *parts] for parts in each]
    for given in itertools.product(*(_given(one, values) for one in arguments if not one.option_strings)):
        for extra in extras:
            yield [*itertools.chain.from_iterable(given), *always, *extra]


def _given(action: argparse.Action, values: Mapping[str, list[str]]) -> list[list[str]]:
    chosen = [str(one) for one in action.choices] if action.choices else values.get(_name(action), values[""])
    return [[*action.option_strings[-1:], value] for value in chosen]


def _name(action: argparse.Action) -> str:
    return action.option_strings[-1].lstrip("-") if action.option_strings else action.dest
