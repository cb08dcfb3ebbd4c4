"""The list of the error numbers in the document; `type` of an error links to its entry on the page."""

from collections.abc import Iterator

from frepo_core import errors


def error_list() -> str:
    """Return the list as Markdown, by number."""
    entries = sorted(_entries().items())
    return "## Errors\n\n" + "\n".join(f"- `{number}` {' '.join(texts)}" for number, texts in entries)


def _entries() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for kind in _kinds():
        text = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
        found.setdefault(kind.number, []).append(text)
    return found


def _kinds() -> Iterator[type[errors.FrepoError]]:
    """Yield the classes with a number of their own, which are not bases of others."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.FrepoError) and isinstance(vars(kind).get("number"), int):
            yield kind
