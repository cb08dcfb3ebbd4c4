"""Makes frepo log all that it can, and tells which tokens and passwords of the tests are in what it logged."""

import logging
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from frepo_core.services import tokens
from frepo_core.services.passwords import Passwords

# Every password of a test, and every secret of a server of the tests, holds this; nothing else does.
MARK = "5ecre7"
# They write whole bodies out at DEBUG, which takes four times as long as the tests of S3.
TOO_LOUD = ("botocore.endpoint", "botocore.hooks", "botocore.httpchecksum")
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def may_tell(text: str) -> bool:
    """Tell whether there may be a secret in what is logged."""
    return MARK in text.casefold() or UUID.search(text) is not None


def secrets_in(text: str, used: Iterable[str]) -> set[str]:
    """Return the used tokens that a log tells, and its words that have the mark of a password."""
    text = text.casefold()
    marked = re.findall(rf"\S*{MARK}\S*", text) if MARK in text else []
    return set(marked) | set(UUID.findall(text)).intersection(used)


def listen_to_all() -> None:
    """Have all logged, but for what is too loud."""
    logging.getLogger().setLevel(logging.DEBUG)
    for name in TOO_LOUD:
        logging.getLogger(name).setLevel(logging.INFO)


def note_secrets(note: Callable[[str], object]) -> None:
    """Call `note` with each token that is made or looked for from now on, and each password that has no mark."""
    token_key, hash_, fits = tokens.token_key, Passwords.hash, Passwords.fits

    def noting_key(phrase: str, token_id: str) -> str:
        note(token_id)
        return token_key(phrase, token_id)

    def noting_hash(self: Passwords, password: str) -> str | None:
        note_unmarked(password)
        return hash_(self, password)

    def noting_fits(self: Passwords, password: str, stored: str | None) -> bool:
        note_unmarked(password)
        return fits(self, password, stored)

    def note_unmarked(password: str) -> None:
        if password and MARK not in password.casefold():
            note(f"password {password!r}")

    tokens.token_key = noting_key
    Passwords.hash, Passwords.fits = noting_hash, noting_fits  # type: ignore[method-assign]


class Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """The handler of a process that is listened to: to stderr, as usual; it notes secrets in a file."""

    def __init__(self, notes: str) -> None:
        super().__init__()
        listen_to_all()
        self._notes = open(notes, "a", buffering=1)  # noqa: SIM115  # open as long as the process lives
        note_secrets(lambda secret: self._notes.write(f"{secret}\n"))


def loud_ini(ini: Path, notes: Path) -> Path:
    """Write a copy of an ini file, beside the notes, with every logger at DEBUG and that handler."""
    text = ini.read_text().replace("%(here)s", str(ini.parent))
    text = re.sub(r"^level = \w+", "level = DEBUG", text, flags=re.MULTILINE)
    usual = "class = StreamHandler\nargs = (sys.stderr,)"
    assert usual in text, f"{ini} logs in another way"
    copy = notes.with_name(f"loud-{ini.name}")
    copy.write_text(text.replace(usual, f"class = servers.loud.Handler\nargs = ({str(notes)!r},)"))
    return copy
