"""The commands `frepo sealed:new-key` and `frepo sealed:rotate`."""

import argparse
import getpass
import os
import secrets
import sys
from pathlib import Path

from frepo_core.cli import FrepoCommand
from frepo_core.plugins import ConfigurationError

from .key_file import KEY_BYTES, parse_key, write_keys


class NewKey(FrepoCommand):
    """Make a key for a sealed storage, and print it once for a safe. Without it, nobody can read the storage."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("file", metavar="FILE", type=Path, help="the file for the key, the setting key_file")
        parser.add_argument(
            "--enter", action="store_true", help="ask for the key from the safe instead of making a new one"
        )
        parser.add_argument(
            "--add", action="store_true", help="put the key before those in the file: it encrypts from now on"
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Write the file, readable for its owner alone."""
        from .keys import fingerprint, read_keys

        path: Path = arguments.file
        old = ""
        if arguments.add:
            read_keys(path)
            old = path.read_text(encoding="ascii")
        elif os.path.lexists(path):  # `exists` raises if the user may not enter the folder
            raise ConfigurationError(f"{path} exists. With --add, a new key is put before those in it")
        secret = _ask() if arguments.enter else secrets.token_bytes(KEY_BYTES)
        write_keys(path, f"{secret.hex()}\n{old}")
        if arguments.enter:
            self.say(f"The key {fingerprint(secret)} is in {path}.")
            return
        self.say(
            f"The key {fingerprint(secret)} is in {path}. Keep a copy in a safe, on paper or in a password manager:"
        )
        self.say("")
        self.say(f"    {secret.hex()}")
        self.say("")
        self.say("Whoever has it can read the storage; without it, nobody can, and no backup comes back.")


class Rotate(FrepoCommand):
    """Encrypt the blobs of a sealed storage with its first key that were encrypted with another one."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("storage", metavar="STORAGE", help="the name of the storage, such as vault")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Seal one blob after the other; it may be interrupted and repeated."""
        backend = self.storage(arguments.storage)
        seal_anew = getattr(backend, "seal_anew", None)
        if seal_anew is None:
            raise ConfigurationError(f"The storage {arguments.storage!r} is not sealed")
        count = seal_anew(lambda done: self.tell_people(f"{done} blobs") if done % 100 == 0 else None)
        self.say(f"{count} blobs were encrypted anew. Nothing but the journal needs the old key any more.")


def _ask() -> bytes:
    """Read a key that a terminal does not show. Neither a command line nor the history of a shell gets it."""
    return parse_key(getpass.getpass("Key, 64 hex digits: ") if sys.stdin.isatty() else sys.stdin.readline())
