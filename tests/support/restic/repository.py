"""restic as an oracle for the strategy `keep`: which snapshots `restic forget` keeps, and by which rules.

Snapshots are written into the repository directly, because `restic backup` takes a third of a second for each. Their
format: https://restic.readthedocs.io/en/stable/100_references.html (Keys, Encryption and MAC; Snapshots).
"""

import base64
import hashlib
import json
import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.poly1305 import Poly1305

PASSWORD = "oracle"
NONCE = MAC = 16
_WITHIN = re.compile(r"(?:(hourly|daily|weekly|monthly|yearly) )?within ")


class Restic:
    """A repository of restic with a key that is cheap to derive: one `forget` takes a twentieth of a second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run("UTC", "init", "--quiet")
        [key_file] = (folder / "keys").iterdir()
        key = json.loads(key_file.read_text())
        sealed = base64.b64decode(key["data"])
        self._master = _open(_derive(key), sealed)
        key_file.unlink()
        key |= {"N": 2, "r": 1, "p": 1}
        key["data"] = base64.b64encode(_seal(_derive(key), self._master)).decode()
        self._write("keys", json.dumps(key).encode())

    def run(self, zone: str, *arguments: str) -> str:
        """Run a command in a time zone; return what it prints."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "TZ": zone, "RESTIC_PASSWORD": PASSWORD}
        command = ["restic", "--repo", str(self.folder), "--no-cache", *arguments]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def set_snapshots(self, times: list[datetime], zone: str) -> None:
        """Replace the snapshots of the repository; times have the zone's offsets, as restic writes them."""
        for old in (self.folder / "snapshots").iterdir():
            old.unlink()
        key = _master_key(self._master)
        for time in times:
            local = time.astimezone(ZoneInfo(zone)).isoformat()
            snapshot = {"time": local, "tree": "0" * 64, "paths": ["/"], "hostname": "host"}
            self._write("snapshots", _seal(key, json.dumps(snapshot).encode()))

    def forget(self, options: dict[str, int | str], zone: str) -> dict[datetime, list[str]]:
        """Return the rules that keep each snapshot, by the names of the options, for all snapshots that are kept.

        An empty result means that restic was given no policy, and keeps everything.
        """
        rules = [f"--keep-{name.replace('_', '-')}={value}" for name, value in options.items()]
        printed = self.run(zone, "forget", "--dry-run", "--json", "--no-lock", "--group-by", "", *rules)
        if not printed:
            return {}
        [group] = json.loads(printed)
        kept = zip(group["keep"] or [], group["reasons"] or [], strict=True)
        return {_parse(one["time"]): [_rule(match) for match in reason["matches"]] for one, reason in kept}

    def _write(self, kind: str, content: bytes) -> None:
        (self.folder / kind / hashlib.sha256(content).hexdigest()).write_bytes(content)


def _parse(text: str) -> datetime:
    """Parse a time of Go, which omits zeros at the end of a fraction."""
    return datetime.fromisoformat(re.sub(r"\.(\d+)", lambda match: f".{match[1]:0<6}", text)).astimezone(UTC)


def _rule(match: str) -> str:
    """Return the name of an option from a reason, such as `last snapshot`, `within 2d` or `hourly within 1y`."""
    if within := _WITHIN.match(match):
        return f"within_{within[1]}" if within[1] else "within"
    return match.removesuffix(" snapshot")


def _derive(key: dict) -> tuple[bytes, bytes, bytes]:
    salt = base64.b64decode(key["salt"])
    derived = hashlib.scrypt(PASSWORD.encode(), salt=salt, n=key["N"], r=key["r"], p=key["p"], maxmem=2**30, dklen=64)
    return derived[:32], derived[32:48], derived[48:]


def _master_key(content: bytes) -> tuple[bytes, bytes, bytes]:
    key = json.loads(content)
    return tuple(base64.b64decode(text) for text in (key["encrypt"], key["mac"]["k"], key["mac"]["r"]))


def _seal(key: tuple[bytes, bytes, bytes], content: bytes) -> bytes:
    """Encrypt with AES-256 in counter mode and append the MAC (Poly1305-AES)."""
    nonce = os.urandom(NONCE)
    encrypted = _encrypt(key, nonce, content)
    return nonce + encrypted + _mac(key, nonce, encrypted)


def _open(key: tuple[bytes, bytes, bytes], sealed: bytes) -> bytes:
    nonce, encrypted, mac = sealed[:NONCE], sealed[NONCE:-MAC], sealed[-MAC:]
    assert _mac(key, nonce, encrypted) == mac, "wrong password, or another format of restic's keys"
    return _encrypt(key, nonce, encrypted)


def _encrypt(key: tuple[bytes, bytes, bytes], nonce: bytes, content: bytes) -> bytes:
    return Cipher(algorithms.AES(key[0]), modes.CTR(nonce)).encryptor().update(content)


def _mac(key: tuple[bytes, bytes, bytes], nonce: bytes, encrypted: bytes) -> bytes:
    pad = Cipher(algorithms.AES(key[1]), modes.ECB()).encryptor().update(nonce)
    return Poly1305.generate_tag(key[2] + pad, encrypted)
