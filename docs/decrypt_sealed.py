"""Decrypts an object of frepo's storage `sealed` without frepo; it needs Python and its library `cryptography`.

    python3 decrypt_sealed.py KEY_FILE OBJECT > CONTENT

OBJECT is a file of the storage below, with its folder: `3f/3f09...`. The format is in sealed-format.md.
"""

import pathlib
import struct
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derive(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """Derive a key (RFC 5869)."""
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(key)


def main(key_file: str, path: str) -> None:
    """Write the content of an object to stdout, and the SHA-256 in its name to stderr."""
    lines = pathlib.Path(key_file).read_text().split("\n")
    keys = [bytes.fromhex(line) for line in lines if line.strip() and not line.startswith("#")]
    name = "/".join(pathlib.Path(path).parts[-2:])
    with open(path, "rb") as file:
        head = file.read(64)
        _, key_id, salt, size = struct.unpack(">16s8s32sQ", head)
        key = next(key for key in keys if derive(key, b"", b"frepo-sealed id", 8) == key_id)
        cipher = AESGCM(derive(key, salt, b"frepo-sealed object " + name.encode(), 32))
        last = max(1, -(-size // 262144)) - 1
        for number in range(last + 1):
            nonce = number.to_bytes(11, "big") + bytes([number == last])
            sys.stdout.buffer.write(cipher.decrypt(nonce, file.read(262144 + 16 + (number == last)), head))
    if len(name) == 3 + 112:
        digest = AESSIV(derive(key, b"", b"frepo-sealed names", 64)).decrypt(bytes.fromhex(name[3:]), None)[:32]
        sys.stderr.write(f"The SHA-256 of the content must be {digest.hex()}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
