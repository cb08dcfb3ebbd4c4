"""Renders the OpenAPI document as one HTML page, without scripts and without external resources."""

import html
import json
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any


def render_page(document: dict[str, Any]) -> str:
    """Return the page as HTML."""
    template = files(__package__).joinpath("docs.html").read_text(encoding="utf-8")
    groups: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    contents: dict[str, list[str]] = {name: [] for name in groups}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = operation["tags"][0]
            groups[tag] += _operation(path, method, operation)
            contents[tag].append(_entry(path, method, operation))
    parts = [*_guide(document["info"]["description"]), *_contents(contents)]
    for tag in document["tags"]:
        parts.append(f"<h2 id='{tag['name']}'>{tag['name']}</h2><p>{_inline(tag['description'])}</p>")
        parts += groups[tag["name"]]
    parts.append("<h2 id='Schemas'>Schemas</h2>")
    parts += [_definition(name, schema) for name, schema in document["components"]["schemas"].items()]
    title = f"{html.escape(document['info']['title'])} {html.escape(document['info']['version'])}"
    return template.replace("<!--title-->", title).replace("<!--content-->", "\n".join(parts))


def _guide(text: str) -> Iterator[str]:
    """Render the guide, with the Markdown that it uses: headings, lists, code and paragraphs."""
    for block in text.strip().split("\n\n"):
        if block.startswith("## "):
            title = html.escape(block[3:])
            yield f"<h2 id='{title.lower().replace(' ', '-')}'>{title}</h2>"
        elif block.startswith("- "):
            yield "<ul>" + "".join(map(_item, block[2:].split("\n- "))) + "</ul>"
        else:
            yield f"<p>{_inline(block)}</p>"


def _item(text: str) -> str:
    """Render an item of a list. One that begins with the number of an error can be linked: `#error-404`."""
    number = re.match("`([0-9]+)` ", text)
    anchor = f" id='error-{number[1]}'" if number else ""
    return f"<li{anchor}>{_inline(text)}</li>"


def _inline(text: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _contents(entries: dict[str, list[str]]) -> Iterator[str]:
    yield "<h2 id='endpoints'>Endpoints</h2><nav>"
    for tag, rows in entries.items():
        yield f"<h4><a href='#{tag}'>{tag}</a></h4><ul>{''.join(rows)}</ul>"
    yield "</nav>"


def _entry(path: str, method: str, operation: dict[str, Any]) -> str:
    name, summary = operation["operationId"], html.escape(operation["summary"])
    return f"<li><a href='#{name}'><b>{method.upper()}</b> <code>{html.escape(path)}</code></a> {summary}</li>"


def _operation(path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    token = "public" if {} in operation["security"] else "needs a token"
    yield f"<section id='{operation['operationId']}'>"
    yield f"<h3><b>{method.upper()}</b> <code>{html.escape(path)}</code> <small>{token}</small></h3>"
    yield f"<p><strong>{html.escape(operation['summary'])}.</strong> {_inline(operation['description'])}</p>"
    if operation["parameters"]:
        rows = [_parameter(parameter) for parameter in operation["parameters"]]
        yield _table(("Parameter", "In", "Meaning", "Value"), rows)
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<div>Body, <code>{html.escape(kind)}</code>: {_schema(body['schema'])}</div>"
    answers = [_answer(status, answer) for status, answer in operation["responses"].items()]
    yield _table(("Status", "Meaning", "Body", "Headers"), answers)
    yield "</section>"


def _parameter(parameter: dict[str, Any]) -> tuple[str, ...]:
    name = f"<code>{html.escape(parameter['name'])}</code>{' *' if parameter['required'] else ''}"
    return name, parameter["in"], _inline(parameter["description"]), _schema(parameter["schema"])


def _answer(status: str, answer: dict[str, Any]) -> tuple[str, ...]:
    bodies = [f"{_schema(each['schema'])}" for each in answer.get("content", {}).values()]
    headers = [f"<code>{html.escape(name)}</code>" for name in answer.get("headers", {})]
    return status, _inline(answer["description"]), "<br>".join(bodies), " ".join(headers)


def _schema(schema: dict[str, Any]) -> str:
    """Link a named schema, or show another one in a collapsed block."""
    if name := schema.get("$ref", "").rpartition("/")[2]:
        return f"<a href='#schema-{name}'>{name}</a>"
    if all("$ref" in option for option in schema.get("anyOf", [{}])):
        return " or ".join(_schema(option) for option in schema["anyOf"])
    if schema.get("format") == "binary":
        return "the content"
    return f"<details><summary>{_kind(schema)}</summary>{_json(schema)}</details>"


def _kind(schema: dict[str, Any]) -> str:
    kinds = [schema, *schema.get("anyOf", [])]
    return html.escape(" or ".join(dict.fromkeys(str(kind["type"]) for kind in kinds if "type" in kind)) or "any")


def _definition(name: str, schema: dict[str, Any]) -> str:
    about = _inline(schema.get("description", ""))
    return f"<section id='schema-{name}'><h3><code>{name}</code></h3><p>{about}</p>{_json(schema)}</section>"


def _json(schema: dict[str, Any]) -> str:
    return f"<pre>{html.escape(json.dumps(schema, indent=2, ensure_ascii=False))}</pre>"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table. The cells are HTML already."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
