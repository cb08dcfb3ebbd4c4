"""Makes the contents of the demonstration: small but real archives, dumps and texts."""

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

_GOODS = ("oak table", "brass lamp", "wool blanket", "crème brûlée set", "garden chair", "blue kettle", "łyżka")
_ZIP_EPOCH = 1980


def make_content(name: str, size: int, seed: str, at: datetime) -> bytes:
    """Return a content of about `size` bytes in the format of the name's ending; the same for the same arguments.

    Most of it is noise, which no compression makes smaller, as in real backups.
    """
    random = Random(seed)
    for ending, make in _MAKERS.items():
        if name.endswith(ending):
            return make(name, size, random, at)
    return _text(name, size, random, at)


def _tar(name: str, size: int, random: Random, at: datetime) -> bytes:
    folder = name.partition(".")[0]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in (
            ("README", f"Backup of {folder}, made at {at:%Y-%m-%d %H:%M} UTC\n".encode()),
            ("etc/settings.conf", _settings(random)),
            ("data/store.bin", random.randbytes(max(size - 700, 64))),
        ):
            entry = tarfile.TarInfo(f"{folder}/{path}")
            entry.size, entry.mtime = len(data), int(at.timestamp())
            archive.addfile(entry, io.BytesIO(data))
    # Noise is not made smaller, but the padding of the archive is.
    return gzip.compress(buffer.getvalue(), compresslevel=1, mtime=int(at.timestamp()))


def _sql(name: str, size: int, random: Random, at: datetime) -> bytes:
    rows = "\n".join(
        f"INSERT INTO goods VALUES ({number}, '{random.choice(_GOODS)}', '{random.randbytes(16).hex()}');"
        for number in range(1, 41)
    )
    noise = random.randbytes(max((size - 4500) // 2, 16)).hex()
    text = f"-- PostgreSQL database dump\n\nCREATE TABLE goods (id bigint, name text, token text);\n{rows}\n\n"
    end = "\n--\n-- PostgreSQL database dump complete\n--\n"
    # Level 0 stores the digits as they are, so the size is the wanted one.
    dump = f"{text}INSERT INTO picture VALUES ('\\x{noise}');\n{end}".encode()
    return gzip.compress(dump, compresslevel=0, mtime=int(at.timestamp()))


def _zip(name: str, size: int, random: Random, at: datetime) -> bytes:
    buffer = io.BytesIO()
    date = (max(at.year, _ZIP_EPOCH), at.month, at.day, at.hour, at.minute, 0)
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("README.txt", date), f"{name}, {at:%Y-%m-%d}\n")
        archive.writestr(zipfile.ZipInfo("documents.bin", date), random.randbytes(max(size - 400, 64)))
    return buffer.getvalue()


def _json(name: str, size: int, random: Random, at: datetime) -> bytes:
    entries = [
        {"id": number, "name": random.choice(_GOODS), "value": random.randbytes(8).hex()}
        for number in range(max(size // 75, 1))
    ]
    return json.dumps({"made_at": at.astimezone(UTC).isoformat(), "entries": entries}, ensure_ascii=False).encode()


def _text(name: str, size: int, random: Random, at: datetime) -> bytes:
    lines = [f"! {name}, {at:%Y-%m-%d %H:%M} UTC"]
    lines += [
        f"interface ge-0/0/{number} address 10.{random.randrange(256)}.{random.randrange(256)}.1/24"
        for number in range(max(size // 48, 1))
    ]
    return "\n".join([*lines, ""]).encode()


def _settings(random: Random) -> bytes:
    return "".join(f"option_{number} = {random.randrange(1000)}\n" for number in range(40)).encode()


_MAKERS: dict[str, Callable[[str, int, Random, datetime], bytes]] = {
    ".sql.gz": _sql,
    ".tar.gz": _tar,
    ".zip": _zip,
    ".json": _json,
}
