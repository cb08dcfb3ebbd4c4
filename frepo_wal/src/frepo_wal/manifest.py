"""Comparing a base backup with its manifest."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .base_content import MANIFEST, BaseContent, DamagedBaseError, NoBaseError

_SHOWN = 3
# What `pg_verifybackup` leaves out, too: `pg_basebackup -R` writes these, and the WAL has checksums of its own.
_LEFT_OUT = (MANIFEST, "postgresql.auto.conf", "standby.signal", "recovery.signal")


def find_difference(found: BaseContent) -> str:
    """Compare each file with the manifest: its size, and its bytes if the checksums are SHA-256.

    Return what differs; empty: nothing. Raises `NoBaseError` if the manifest itself is damaged.
    """
    wrong = _differences(found)
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return f"it is not as its manifest says: {', '.join(wrong[:_SHOWN])}{more}" if wrong else ""


def _differences(found: BaseContent) -> list[str]:
    """Return what differs. Raises `NoBaseError` if the manifest itself is damaged."""
    begin = found.manifest.rpartition(b'"Manifest-Checksum"')[0]
    try:
        manifest = json.loads(found.manifest)
        is_whole = hashlib.sha256(begin).hexdigest() == manifest["Manifest-Checksum"]
        expected = {_path(one): one for one in manifest["Files"]}
        algorithms = {one.get("Checksum-Algorithm", "") for one in expected.values()}
        sizes = {name: int(one["Size"]) for name, one in expected.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoBaseError("the manifest cannot be read") from error
    if not is_whole:
        raise DamagedBaseError("the manifest itself was changed")
    wrong, seen = [], set()
    for file in found.files:
        seen.add(file.name)
        if file.name in _LEFT_OUT or file.name.startswith("pg_wal/"):
            continue
        if file.name not in expected:
            wrong.append(f"{file.name} is not in it")
        elif file.size != sizes[file.name]:
            wrong.append(f"{file.name} has {file.size} bytes instead of {sizes[file.name]}")
        elif algorithms == {"SHA256"} and file.sha256 != expected[file.name]["Checksum"]:
            wrong.append(f"{file.name} has other bytes")
    return wrong + [f"{name} is missing" for name in sorted(set(expected) - seen - set(_LEFT_OUT))]


def _path(file: Mapping[str, Any]) -> str:
    if "Path" in file:
        return str(file["Path"])
    return bytes.fromhex(file["Encoded-Path"]).decode("utf-8", "surrogateescape")
