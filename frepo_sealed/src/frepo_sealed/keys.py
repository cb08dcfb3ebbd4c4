"""The keys of a sealed storage, and what is derived from each."""

import re
from collections.abc import Iterator
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from frepo_core.plugins import ConfigurationError

ID_BYTES = 8
_KEY = re.compile("[0-9a-f]{64}")
# The key of a blob: two digits of the digest, the digest, and 8 random bytes.
_BLOB = re.compile("([0-9a-f]{2})/([0-9a-f]{64})-([0-9a-f]{16})")
_NAME = re.compile("([0-9a-f]{2})/([0-9a-f]{112})")


class Key:
    """One key: 32 random bytes. What is used are keys derived from it (HKDF with SHA-256, RFC 5869)."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.id = _derive(secret, b"", b"frepo-sealed id", ID_BYTES)
        self._siv = AESSIV(_derive(secret, b"", b"frepo-sealed names", 64))

    def cipher(self, salt: bytes, name: str) -> AESGCM:
        """Return AES-256-GCM with the key of one object, which no other object has."""
        return AESGCM(_derive(self._secret, salt, b"frepo-sealed object " + name.encode(), 32))

    def name(self, key: str) -> str:
        """Return the name of a blob below, which shows no digest: AES-SIV (RFC 5297). Other names stay."""
        match = _BLOB.fullmatch(key)
        if match is None or match[1] != match[2][:2]:
            return key
        sealed = self._siv.encrypt(bytes.fromhex(match[2] + match[3]), None).hex()
        return f"{sealed[:2]}/{sealed}"

    def blob_key(self, name: str) -> str | None:
        """Return the key of a blob whose name this key has made, None for any other name."""
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        try:
            plain = self._siv.decrypt(bytes.fromhex(match[2]), None).hex()
        except InvalidTag:
            return None
        return f"{plain[:2]}/{plain[:64]}-{plain[64:]}"


class KeyRing:
    """The keys of a storage: the first one encrypts, all of them decrypt."""

    def __init__(self, secrets: list[bytes]) -> None:
        self.keys = [Key(secret) for secret in secrets]

    @property
    def first(self) -> Key:
        """The key that encrypts."""
        return self.keys[0]

    def find(self, key_id: bytes) -> Key | None:
        """Return the key with an id."""
        return next((key for key in self.keys if key.id == key_id), None)

    def names(self, key: str) -> Iterator[str]:
        """Yield the names that a blob may have below, each once."""
        yield from dict.fromkeys(each.name(key) for each in self.keys)

    def blob_key(self, name: str) -> str | None:
        """Return the key of a blob with this name below; None if none of the keys has made the name.

        What is no blob has its own name. A blob under its own name was stored by somebody else.
        """
        if not is_sealed_name(name):
            return name if self.first.name(name) == name else None
        return next((key for each in self.keys if (key := each.blob_key(name)) is not None), None)


def is_sealed_name(name: str) -> bool:
    """Return whether this is the name of a blob in a sealed storage, with whatever key."""
    return _NAME.fullmatch(name) is not None


def read_keys(path: Path) -> KeyRing:
    """Read the keys. Raises `ConfigurationError` if the file has no key, or a line that is no key."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        raise ConfigurationError(missing_keys(path)) from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The keys of the sealed storage in {path} cannot be read: {error}") from error
    found = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not found or not all(map(_KEY.fullmatch, found)):
        raise ConfigurationError(f"{path} must have one key in each line: 64 hex digits in lower case")
    return KeyRing([bytes.fromhex(line) for line in found])


def missing_keys(path: Path) -> str:
    """Return what to say if the file with the keys is missing."""
    return (
        f"The file with the keys of the sealed storage is missing: {path}. If the storage is new, make it with "
        f"`frepo sealed:new-key {path}`. Else enter the key from your safe: `frepo sealed:new-key {path} --enter`"
    )


def fingerprint(secret: bytes) -> str:
    """Return how people name a key: its id in hex, which tells nothing about it."""
    return Key(secret).id.hex()


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)
