"""What gpg and others encrypt is recognized by its first packets, and nothing else is taken for it."""

import base64
import gzip
import random
import subprocess

import pytest

from frepo_integrity.outcomes import BrokenContent
from support.compressors import archive_of

KEY, FINGERPRINT = bytes(8), bytes(range(32))
# The bodies of packets with a session key, by RFC 9580, 5.1 and 5.3: for a key, or for a passphrase.
KEYS = {
    "RSA, version 3": (1, b"\x03" + KEY + b"\x01" + b"\x10\x00" + bytes(512)),
    "Elgamal, version 3": (1, b"\x03" + KEY + b"\x10" + (b"\x07\xf9" + bytes(256)) * 2),
    "ECDH, version 3": (1, b"\x03" + KEY + b"\x12" + b"\x01\x07" + bytes(33) + b"\x30" + bytes(48)),
    "X25519, version 3": (1, b"\x03" + KEY + b"\x19" + bytes(32) + b"\x29" + bytes(41)),
    "version 6 for a key of version 4": (1, b"\x06\x15\x04" + FINGERPRINT[:20] + b"\x12" + bytes(80)),
    "version 6 for a key of version 6": (1, b"\x06\x21\x06" + FINGERPRINT + b"\x19" + bytes(73)),
    "version 6 for nobody by name": (1, b"\x06\x00\x19" + bytes(73)),
    "a passphrase, version 4": (3, b"\x04\x09\x03\x08" + bytes(8) + b"\xff"),
    "a passphrase, version 5": (3, b"\x05\x09\x02\x03\x08" + bytes(8) + b"\xff" + bytes(63)),
    "a passphrase with Argon2, version 6": (3, b"\x06\x26\x09\x02\x14\x04" + bytes(16) + b"\x01\x04\x15" + bytes(63)),
}


def packet(tag, body):
    """Write a packet with a length of two or five octets."""
    size = b"\xff" + len(body).to_bytes(4, "big") if len(body) > 191 else bytes([len(body)])
    return bytes([0xC0 | tag]) + size + body


@pytest.mark.parametrize("key", KEYS)
def test_a_message_is_whole_or_found_to_be_cut_anywhere(check, key):
    message = packet(*KEYS[key]) * 2 + packet(18, b"\x02" + bytes(9000))

    assert check(message, "backup").covers == "container"
    for size in (100, len(message) // 2, len(message) - 1):
        assert isinstance(check(message[:size], "backup"), BrokenContent), size


def test_random_bytes_are_not_taken_for_a_message(check):
    """What `openssl enc` or a disk's encryption has written begins with any bytes."""
    seeded = random.Random(1)
    for first in (0x84, 0x85, 0x8C, 0x8D, 0xC1, 0xC3):
        for version in range(3, 7):
            for size in (
                b"\x02",
                b"\x20",
                b"\x85",
                b"\x01\x85",
                b"\x10\x85",
                b"\xc7\x20",
                b"\xe9\x20",
                bytes(3) + b"\x20",
            ):
                for _ in range(20):
                    content = bytes([first]) + size + bytes([version]) + seeded.randbytes(3000)

                    assert not isinstance(check(content, "backup"), BrokenContent), content[:8].hex()


def test_what_only_begins_as_a_message_is_not_taken_for_one(check):
    key = packet(*KEYS["RSA, version 3"])
    shorter_than_it_says = packet(1, b"\x03" + KEY + b"\x01" + b"\x10\x00" + bytes(100))
    cut = packet(18, b"\x02" + bytes(9000))[:5000]
    for content in (shorter_than_it_says + cut, key + bytes(5000), key + packet(18, b"\x07" + bytes(9000))[:5000]):
        assert not isinstance(check(content, "backup"), BrokenContent), content[:20].hex()

    assert isinstance(check(key + cut, "backup"), BrokenContent)


def armored(message, *headers):
    """Write a message as text, as gpg does: in lines of 64, with a checksum, which is not compared."""
    text = base64.b64encode(message).decode()
    lines = [*headers, "", *(text[at : at + 64] for at in range(0, len(text), 64)), "=aBcD"]
    return "\n".join(["-----BEGIN PGP MESSAGE-----", *lines, "-----END PGP MESSAGE-----", ""]).encode()


@pytest.mark.parametrize("key", ["RSA, version 3", "a passphrase, version 4"])
def test_a_message_of_nothing_is_found_also_as_text(check, key):
    for body, is_empty in ((b"\x01" + bytes(52), True), (b"\x01" + bytes(400), False)):
        message = packet(*KEYS[key]) + packet(18, body)
        for headers in ((), ("Version: GnuPG v2", "Comment: nightly")):
            found = check(armored(message, *headers), "backup.asc")

            said = "There is nothing in the encrypted file" if is_empty else "The encrypted message has its last line"
            assert said == found.message


@pytest.mark.parametrize(("tag", "of_nothing"), [(9, 36), (18, 59), (20, 69)])
def test_next_to_nothing_is_suspicious_where_a_dump_should_be(check, tag, of_nothing):
    """A password is that short. What gpg makes of an empty file has its name in it."""
    key = packet(*KEYS["a passphrase, version 4"])
    verdicts = {}
    for size in (of_nothing, of_nothing + 1, of_nothing + 44, of_nothing + 45):
        message = key + packet(tag, b"\x01" + bytes(size - 1))
        for name in ("db.sql", "db.tar.gz", "password"):
            for pack, suffix in ((bytes, ".gpg"), (armored, ".asc"), (gzip.compress, ".gpg.gz")):
                found = check(pack(message), name + suffix)
                verdicts.setdefault((size - of_nothing, name == "password"), set()).add(
                    found.verdict if isinstance(found, BrokenContent) else found.outcome
                )

    said = {0: {"broken"}, 1: {"suspicious"}, 44: {"suspicious"}, 45: {"good"}}
    assert {(more, False): one for more, one in said.items()} == {
        key: one for key, one in verdicts.items() if not key[1]
    }
    assert {(0, True): {"broken"}} | {(more, True): {"good"} for more in (1, 44, 45)} == {
        key: one for key, one in verdicts.items() if key[1]
    }


AGE_HEAD = b"age-encryption.org/v1\n-> X25519 a\nb\n--- c\n" + bytes(16)


def salted(size):
    """Write what `openssl enc` makes of so many bytes."""
    return b"Salted__" + bytes(8 + size // 16 * 16 + 16)


@pytest.mark.parametrize("name", ["db.sql.gz.age", "db.sql.zst.enc"])
def test_what_a_compression_makes_of_nothing_is_suspicious_also_if_it_is_encrypted(check, name):
    make = salted if name.endswith(".enc") else lambda size: AGE_HEAD + bytes(size + 16)
    for size, most in ((20, True), (32, True), (48, False)):
        for content in (make(size), base64.encodebytes(make(size))) if make is salted else (make(size),):
            found = check(content, name)

            assert most == isinstance(found, BrokenContent), size
            assert not most or ("suspicious", True) == (found.verdict, "next to nothing" in found.message)
            assert "not checked" == check(content, "password.enc").outcome
    assert "broken" == check(base64.encodebytes(salted(0)), "password.enc").verdict


def test_what_gpg_makes_of_nothing_is_found(check, tmp_path):
    home = ("--homedir", str(tmp_path))
    (tmp_path / "shop-2026-11-29.sql").touch()
    # Without a count, gpg measures how many turns of its hash take a tenth of a second.
    command = ("gpg", *home, "--batch", "--passphrase", "x", "--pinentry-mode", "loopback", "--s2k-count", "1024")
    command += ("--output", "-")
    forms = [(), ("--armor",), ("--compress-algo", "zlib"), ("--compress-algo", "none")]
    made = [check(archive_of(tmp_path, *command, *form, "--symmetric")) for form in forms]
    files = [archive_of(tmp_path, *command, *form, "--symmetric", "shop-2026-11-29.sql") for form in forms]
    subprocess.run(["gpgconf", *home, "--kill", "all"], check=True)

    assert ["There is nothing in the encrypted file"] * 4 == [one.message for one in made]
    assert ["suspicious"] * 4 == [check(one, "shop.sql.gpg").verdict for one in files]
