"""Writes the lists of a recovery: what is missing, and which tokens are void."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frepo_core.cli.transfers.streams import target
from frepo_core.domain.texts.foreign_text import spreadsheet_cell

if TYPE_CHECKING:
    from ..recovery import Recovery
    from ..sources import Source
    from ..staging import MissingContent

_MISSING = ("what", "name", "size", "digest", "storage", "key")
_TOKENS = ("name", "roles", "collections", "expires_at")


def write_missing(missing: "Iterable[MissingContent]", folder: str, name: str) -> Path:
    """Write the contents that are in no storage; return the path."""
    return _write(Path(folder, name), _MISSING, map(asdict, missing))


def write_tokens(recovery: "Recovery", source: "Source", folder: str, hosts: str, others: str) -> tuple[Path, Path]:
    """Write the hosts for `fleet:create --from`, and what each token was; return both paths."""
    listed: dict[str, list[str]] = defaultdict(list)
    for collection in recovery.collections(source):
        for token in collection.get("tokens", ()):
            listed[token["token_key"]].append(collection["id"])
    tokens = list(recovery.tokens(source))
    names = sorted({token["name"] for token in tokens if recovery.is_of_host(token, listed[token["key"]])})
    rows = (
        {
            "name": token["name"],
            "roles": " ".join(token["roles"]),
            "collections": " ".join(listed[token["key"]]),
            "expires_at": token.get("expires_at", ""),
        }
        for token in tokens
    )
    return (
        _write(Path(folder, hosts), ("name",), ({"name": name} for name in names)),
        _write(Path(folder, others), _TOKENS, rows),
    )


def _write(path: Path, columns: Sequence[str], rows: "Iterable[Mapping[str, Any]]") -> Path:
    with target(str(path), replaces=True, option="--lists") as content:
        file = io.TextIOWrapper(content, encoding="utf-8", newline="", write_through=True)
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(_cells(rows))
        file.detach()
    return path


def _cells(rows: "Iterable[Mapping[str, Any]]") -> Iterator[dict[str, str]]:
    for row in rows:
        yield {name: str(spreadsheet_cell(str(value))) for name, value in row.items()}
