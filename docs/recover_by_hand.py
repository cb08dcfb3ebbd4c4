#!/usr/bin/env python3
"""Write each version and each file from a storage of frepo into folders, without frepo and without its database.

It needs Python 3.9 and nothing else, and a storage as a directory. For contents that are stored compressed it also
needs decode_by_hand.py in the same folder, and Python 3.14, or 3.9 with the package backports.zstd. From S3 or FTP,
copy the objects to a disk first: docs/recovery.md says how. Nothing in the storage is changed.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import hmac
import itertools
import json
import os
import re
import secrets
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

Line = dict[str, Any]
Objects = dict[tuple[Any, ...], list[Line]]
NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")
BLOB = re.compile(r"[0-9a-f]{2}/([0-9a-f]{64})-[0-9a-f]{16}")
PIECE = 1 << 20
# A line holds one object. Longer ones, and those with more values, are not from frepo, and would take all memory.
LONGEST_LINE = 64 << 20
MOST_VALUES = 2_000_000
# Each line names another object, which takes a compressed byte at least. Small files may have more.
FEW_LINES = 100_000
# In bytes. A name gets `.DAMAGED`, or `.base` for each content that it is the difference to.
LONGEST_NAME = 160


def say(text: str) -> None:
    """Print a line for people."""
    sys.stderr.write(f"{printable(text)}\n")


def printable(text: str) -> str:
    """Return a text without control characters: what is in the storage must not command a terminal."""
    return "".join(one if one.isprintable() else "?" for one in text)


class Seals:
    """Verifies that catalogues and parts are from the service with these secrets: HMAC and HKDF (RFC 2104, 5869)."""

    def __init__(self, path: Path) -> None:
        """Read the lines `app.secret = ...` and `enc.token_phrase = ...`, or a JSON object with these names."""
        text = path.read_text()
        if text.lstrip().startswith("{"):
            values = json.loads(text)
        else:
            lines = (line.partition("=") for line in text.splitlines())
            values = {name.strip(): value.strip().strip("'\"") for name, _, value in lines}
        names = [("app.secret", "APP_SECRET"), ("enc.token_phrase", "ENC_TOKEN_PHRASE")]
        secrets = [values.get(name) or values[variable] for name, variable in names]
        self.key = hmac.digest(b"", json.dumps(secrets).encode(), "sha256")

    def verify(self, path: Path, digest: str, seal: Any) -> None:
        """Raise ValueError if a file with this digest of its lines is not known to be from the service."""
        name = f"{path.parent.name}/{path.name}"
        try:
            key = hmac.digest(self.key, f"frepo {path.parent.name}\x01".encode(), "sha256")
            mac = hmac.digest(key, f"{name}\n{digest}\n{seal['before']}".encode(), "sha256").hex()
            is_own = hmac.compare_digest(mac, seal["mac"])
        except (KeyError, TypeError):
            is_own = False
        if not is_own:
            raise ValueError("it cannot be verified with these secrets")


class Written(NamedTuple):
    """A catalogue or a part of the journal. `before` is the digest of the part before it, if it says so."""

    head: Line
    objects: list[Line]
    digest: str
    before: str | None


def read_file(path: Path, seals: Seals | None) -> Written:
    """Read a catalogue or a part of the journal.

    Raises ValueError if it is damaged, or cannot be verified.
    """
    try:
        if not path.is_file():
            raise ValueError("it is no file")  # a pipe would be waited for
        digest, seal = verify(path)
        if seals:
            seals.verify(path, digest, seal)
        return Written(*check(path), digest, seal.get("before"))
    except (OSError, EOFError, zlib.error, TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def verify(path: Path) -> tuple[str, Line]:
    """Return the digest of the lines, and the seal. Nothing is kept in memory: somebody else may have written it."""
    digest, count, most = hashlib.sha256(), -1, FEW_LINES + path.stat().st_size
    with gzip.open(path, "rb") as file:
        for raw, line in read_lines(file):
            if count > most:
                raise ValueError("it has more lines than so few bytes can say something in")
            if "end" in line:
                if line["end"] != {"objects": count, "sha256": digest.hexdigest()}:
                    raise ValueError("its digest is wrong")
                return digest.hexdigest(), read_seal(file)
            digest.update(raw)
            count += 1
    raise ValueError("it has no end")


def read_lines(file: IO[bytes]) -> Iterator[tuple[bytes, Line]]:
    """Yield the lines, and what they say."""
    while raw := file.readline(LONGEST_LINE):
        if raw.count(b",") > MOST_VALUES:
            raise ValueError(f"a line has more than {MOST_VALUES} values")
        yield raw, json.loads(raw)


def read_seal(file: IO[bytes]) -> Line:
    """Return the seal, the last line of a file; empty if it has none."""
    try:
        last = next(read_lines(file), (b"", {}))[1]
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        return {}
    seal = last.get("seal") if isinstance(last, dict) else None
    return seal if isinstance(seal, dict) else {}


def check(path: Path) -> tuple[Line, list[Line]]:
    """Return the head and the objects of a file whose digest is right. Raises ValueError if a line has another form."""
    with gzip.open(path, "rb") as file:
        lines = [line for _, line in itertools.takewhile(lambda found: "end" not in found[1], read_lines(file))]
    if not lines or not all(isinstance(line, dict) for line in lines) or not {"database", "made_at"} <= {*lines[0]}:
        raise ValueError("it has no head")
    for line in lines[1:]:
        name, key, values = line.get("object"), line.get("key"), line.get("values")
        is_object = isinstance(name, str) and isinstance(key, list) and isinstance(values, list)
        if not is_object or {*map(type, key or ())} - {str, int} or {*map(type, values or ())} - {dict}:
            raise ValueError(f"a line is no object: {line!r:.100}")
    return lines[0], lines[1:]


def place(path: Path) -> list[str]:
    """Return epoch and number from the name of a catalogue or of a part: the order in which they were written."""
    return path.name.split("-")[-2:]


def read_objects(root: Path, seals: Seals | None = None) -> Objects:
    """Return the states of all objects by kind and key, from the newest whole catalogue and the journal after it."""
    for catalogue in sorted(root.glob("catalogue/*-*-*"), key=lambda path: (place(path), path.name), reverse=True):
        try:
            file = read_file(catalogue, seals)
        except ValueError as error:
            say(f"{catalogue} cannot be used: {error}")
            continue
        objects: Objects = {}
        for line in file.objects:
            objects.setdefault((line["object"], *line["key"]), []).extend(line["values"])
        return add_journal(root, catalogue, file, objects, seals)
    sys.exit(f"{root} has no whole catalogue in the folder `catalogue`")


def add_journal(root: Path, catalogue: Path, file: Written, objects: Objects, seals: Seals | None) -> Objects:
    """Replace the objects that the journal has since the catalogue. Each part names the one before it."""
    reaches, before = file.head["made_at"], file.before
    for part in sorted(root.glob("journal/*-*"), key=place):
        if place(part) <= place(catalogue):
            continue
        try:
            its = read_file(part, seals)
        except ValueError as error:
            say(f"{part} cannot be used: {error}")
            before = None  # the next one follows a part that is not known
            continue
        if its.head["database"] != file.head["database"]:
            continue
        if None not in (before, its.before) and before != its.before:
            say(f"Before {part}, a part is missing: what changed in it alone is lost")
        reaches, before = its.head["made_at"], its.digest
        objects.update({(line["object"], *line["key"]): line["values"] for line in its.objects})
    say(f"{catalogue.name} and the journal since: all that was there at {reaches}")
    return objects


def find_contents(objects: Objects) -> Iterator[tuple[str, str, str, Line]]:
    """Yield the folders, the name, and the content of each version, each file, and each version in the trash."""
    names = {}
    for (kind, *key), state in objects.items():
        if kind == "collection" and state and key:
            names[key[0]] = state[0].get("filename")
    for (kind, *key), state in sorted(objects.items(), key=str):
        for one in state:
            try:
                found = find_content(kind, key, one, names)
            except (AttributeError, KeyError, TypeError, ValueError):
                say(f"passed over, because it is not complete: {kind} {key}")
                continue
            if found:
                yield found


def find_content(kind: str, key: list[Any], one: Line, names: Line) -> tuple[str, str, str, Line] | None:
    """Return what `find_contents` yields for one object; None if it has no content."""
    if kind not in ("file", "version", "trash"):
        return None
    blob = one["blob"]
    if not isinstance(blob["size"], int) or not isinstance(blob["digest"], str) or not isinstance(blob["key"], str):
        raise TypeError
    if kind == "file":
        return "files", "", str(one["stored_name"]), blob
    collection, number = key
    file = one["file"]["requested_name"] if kind == "version" else one["name"]
    folder = f"{names.get(collection, 'deleted')}-{collection}"
    return "versions" if kind == "version" else "trash", folder, f"{number}-{file}", blob


def find_sizes(objects: Objects) -> dict[str, int]:
    """Return the sizes of all contents by their SHA-256: an object that says more than its record does is not read."""
    sizes: dict[str, int] = {}
    for one in itertools.chain.from_iterable(objects.values()):
        blob = one.get("blob")
        if isinstance(blob, dict) and isinstance(blob.get("digest"), str) and isinstance(blob.get("size"), int):
            sizes[blob["digest"]] = max(blob["size"], sizes.get(blob["digest"], 0))
    return sizes


def safe_name(part: str) -> str:
    """Return a text as the name of a file: its start and its end if it is long, so that the disk takes it."""
    name = NOT_IN_NAMES.sub("_", part).lstrip(".") or "_"
    data = name.encode(errors="replace")
    if len(data) > LONGEST_NAME:
        name = (data[: LONGEST_NAME // 2] + b"_" + data[-LONGEST_NAME // 2 :]).decode(errors="ignore")
    return name


def unused(parts: list[str], used: set[tuple[str, ...]]) -> list[str]:
    """Return a path that was not used yet: two deleted collections may have had one id, and versions of one name."""
    *folders, name = parts
    number, path = 1, parts
    while tuple(path) in used:
        number += 1
        path = [*folders, f"{number}.{name}"]
    used.add(tuple(path))
    return path


def find_stored(root: Path) -> dict[str, list[Path]]:
    """Return the paths of the contents in the storage by their SHA-256: a copy has another key than the record."""
    found: dict[str, list[Path]] = {}
    for path in root.glob("[0-9a-f][0-9a-f]/*"):
        match = BLOB.fullmatch(path.relative_to(root).as_posix())
        if match:
            found.setdefault(match[1], []).append(path)
    return found


@contextlib.contextmanager
def create(target: Path) -> Iterator[BinaryIO]:
    """Write a file next to the target, which it replaces at the end: a link in its place is not followed.

    What could be written before an error stays, too.
    """
    part = target.with_name(f".{secrets.token_hex(16)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with open(descriptor, "wb") as writer:
            yield writer
    finally:
        os.replace(part, target)


def copy(source: Path, target: Path, digest: str) -> str | None:
    """Copy a content and compare it with its SHA-256. Return what is wrong, or None."""
    target.parent.mkdir(parents=True, exist_ok=True)
    found = hashlib.sha256()
    with source.open("rb") as reader, create(target) as writer:
        for piece in iter(lambda: reader.read(PIECE), b""):
            found.update(piece)
            writer.write(piece)
    if found.hexdigest() == digest:
        return None
    target.rename(target.with_name(f"{target.name}.DAMAGED"))
    return "damaged"


def decode(root: Path, source: Path, target: Path, digest: str, sizes: dict[str, int]) -> str | None:
    """Write the content of an encoded object. Return what is wrong, or None."""
    sys.path.append(str(Path(__file__).resolve().parent))
    try:
        import decode_by_hand
    except ImportError as error:
        return f"compressed, and cannot be read without {error.name}"
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        decode_by_hand.write_one(root, source, digest, target, sizes=sizes)
    except (OSError, ValueError) as error:
        if target.exists():
            target.rename(target.with_name(f"{target.name}.DAMAGED"))
        return f"damaged ({error})"
    return None


def recover(root: Path, stored: dict[str, list[Path]], target: Path, blob: Line, sizes: dict[str, int]) -> str | None:
    """Write a content to the target from the first sound copy of it. Return what is wrong, or None."""
    problem: str | None = "missing"
    for source in stored.get(blob["digest"], ()):
        try:
            if not source.is_file():
                problem = "not copied (it is no file)"  # a pipe would be waited for, and a device has no end
            elif source.stat().st_size == blob["size"]:  # raw, whatever its bytes are
                problem = copy(source, target, blob["digest"])
            else:
                problem = decode(root, source, target, blob["digest"], sizes)
        except OSError as error:
            problem = f"not copied ({error})"
        if problem is None:
            return None
    return problem


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("storage", type=Path, help="the directory of the storage, or a copy of it")
    parser.add_argument("target", type=Path, nargs="?", help="the folder to write to")
    parser.add_argument("--list", action="store_true", help="show what there is, and write nothing")
    parser.add_argument("--only", default="", metavar="TEXT", help="collections whose name or id contains this text")
    parser.add_argument(
        "--secrets",
        type=Path,
        metavar="FILE",
        help="the two lines of the safe: pass over what the service did not write",
    )
    arguments = parser.parse_args()
    seals = Seals(arguments.secrets) if arguments.secrets else None
    if not arguments.list and arguments.target is None:
        parser.error("name the folder to write to, or use --list")
    used: set[tuple[str, ...]] = set()
    stored, problems, written = find_stored(arguments.storage), 0, 0
    objects = read_objects(arguments.storage, seals)
    sizes = find_sizes(objects)
    for kind, folder, name, blob in find_contents(objects):
        if arguments.only not in folder:
            continue
        parts = unused([safe_name(part) for part in (kind, folder, name) if part], used)
        if arguments.list:
            shown = ("/".join(parts), str(blob["size"]), blob["digest"], blob["key"])
            sys.stdout.write("\t".join(map(printable, shown)) + "\n")
            continue
        problem = recover(arguments.storage, stored, Path(arguments.target, *parts), blob, sizes)
        written += problem is None
        if problem:
            problems += 1
            say(f"{problem}: {'/'.join(parts)}, {blob['size']} bytes, SHA-256 {blob['digest']}")
    if not arguments.list:
        say(f"{written} contents were written, {problems} are missing or damaged")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
