"""The parts of a version, as the server lists them: tables of a dump, files of an archive. Their names are texts."""

from __future__ import annotations

import itertools
import urllib.parse
from collections.abc import Iterator
from typing import Any

from ..errors import RefusedError, UsageError
from ..reporter import Reporter
from ..server.api import Api
from ..server.connection import TransientAnswerError
from .download import Download, path_of

TABLE = "table"
_ROOT = 0
_PAGE = "500"
_SHOWN = 5
_IS_LISTED_SOON = 5.0  # seconds until the server is asked again


class Contents:
    """The parts of one version."""

    def __init__(self, api: Api, reporter: Reporter, collection: str, version: dict[str, Any]) -> None:
        self._api = api
        self._reporter = reporter
        self._path = f"{path_of(api.collection_id(collection), version)}/contents"

    def table(self, name: str) -> dict[str, Any]:
        """Return the table with a name, with or without its schema. Raises `UsageError`, which names others."""
        found = self._tables(name)
        if not found and name.count(".") == 1:
            found = self._tables(name.replace(".", "/"))
        if len(found) > 1:
            names = ", ".join(_dotted(part) for part in found[:_SHOWN])
            raise UsageError(f"{len(found)} tables are called {name!r}: {names}. Name one with its schema")
        if not found:
            others = [part for _, part in itertools.islice(self.below(_ROOT, ()), _SHOWN) if part["kind"] == TABLE]
            if not others:
                raise UsageError("it has files and no tables: take --path")
            raise UsageError(f"it has no table {name!r}; it has {', '.join(_dotted(part) for part in others)}")
        return found[0]

    def _tables(self, name: str) -> list[dict[str, Any]]:
        return [part for part in self._parts({"name": name}) if part["kind"] == TABLE]

    def chosen(self, path: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
        """Return a file, or a folder with all that is below it, each with the names that lead to it.

        Raises `UsageError` if there is none.
        """
        names = steps(path)
        part = self._find(names)
        this = [(names, part)] if names else []
        return itertools.chain(this, () if part["parts"] is None else self.below(part["number"], names))

    def below(self, folder: int, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
        """Yield all parts below a folder, each with the names that lead to it."""
        for part in self._parts({"parent": str(folder)}):
            if part["kind"] == TABLE:
                part["name"] = "/".join((*names, str(part["name"])))
            way = (*names, str(part["name"]))
            yield way, part
            if part["parts"] is not None:
                yield from self.below(part["number"], way)

    def file(self, path: str) -> dict[str, Any] | None:
        """Return the file that a hard link leads to, None if there is none."""
        try:
            part = self._find(steps(path))
        except UsageError:
            return None
        return part if part["kind"] == "file" else None

    def _find(self, names: tuple[str, ...]) -> dict[str, Any]:
        part: dict[str, Any] = {"number": _ROOT, "parts": 0}
        for name in names:
            inside = [] if part["parts"] is None else list(self._parts({"parent": str(part["number"])}))
            found = [one for one in inside if one["name"] == name]
            if not found:
                raise self._missing("/".join(names))
            part = found[-1]  # of several members of one name, the last one counts
        return part

    def _missing(self, path: str) -> UsageError:
        top = list(self._parts({}))
        if any(part["kind"] == TABLE for _, part in itertools.islice(self.below(_ROOT, ()), _SHOWN)):
            return UsageError("it has tables and no files: take --table")
        names = ", ".join(str(part["name"]) for part in top[:_SHOWN])
        return UsageError(f"it has no file or folder {path!r}; at its top are {names}")

    def pieces(self, part: dict[str, Any]) -> Iterator[bytes]:
        """Yield the bytes of a part. Raises `RefusedError` for one that is not given alone."""
        if part["refusal"]:
            raise RefusedError(f"{part['name']} is not given alone: {part['refusal']}. Restore the whole backup", 409)
        path = f"{self._path}/{int(part['number'])}"
        return Download(self._api, path, self._reporter, size=int(part["size"])).pieces()

    def _parts(self, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        """Yield the parts of all pages of a list. Raises `RefusedError` with the reason why there is no list."""
        query = {"limit": _PAGE, **query}
        while True:
            page = self._page(urllib.parse.urlencode(query))
            yield from page.get("items") or []
            if not page.get("next"):
                return
            query["cursor"] = str(page["next"])

    def _page(self, query: str) -> dict[str, Any]:
        while True:
            page = self._api.get(f"{self._path}?{query}")
            if page.get("state") == "none":
                raise RefusedError(f"its parts are not listed: {page.get('reason')}", 409)
            if page.get("state") != "pending":
                return page
            self._api.retry.pause(TransientAnswerError(str(page.get("reason")), 503, _IS_LISTED_SOON))


def steps(path: str) -> tuple[str, ...]:
    """Return the names in a path, without empty ones and those for this folder itself."""
    return tuple(name for name in path.split("/") if name not in {"", "."})


def _dotted(part: dict[str, Any]) -> str:
    return str(part["name"]).replace("/", ".")
