"""The list of the error numbers on the page of the document; `type` of an error links to its entry."""

import html
import re
from collections.abc import Iterator

from frepo_core import errors
from frepo_core.web.conventions.problems import TITLES

# Errors without a class of their own have the number of their status.
_OF_HTTP = (405, 412, 413, 416, 431, 500, 501)


def error_list() -> str:
    """Return the list as HTML, by number. It needs no scripts."""
    entries = "\n".join(_entry(number, " ".join(texts)) for number, texts in sorted(_entries().items()))
    return f"<section class='errors' id='errors'>\n<h2>Errors</h2>\n<dl>\n{entries}\n</dl>\n</section>"


def _entry(number: int, text: str) -> str:
    explanation = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return f"<dt id='error-{number}'>{number}</dt><dd>{explanation}</dd>"


def _entries() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for kind in _kinds():
        text = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
        found.setdefault(kind.number, []).append(text)
    return found | {status: [f"{TITLES[status]}."] for status in _OF_HTTP}


def _kinds() -> Iterator[type[errors.FrepoError]]:
    """Yield the classes with a number of their own, which are not bases of others."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.FrepoError) and isinstance(vars(kind).get("number"), int):
            yield kind
