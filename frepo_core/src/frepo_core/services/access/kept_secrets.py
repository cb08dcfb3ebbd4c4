"""Whether the secrets without which tokens and links are void were printed for a safe."""

import secrets

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import Installation
from frepo_core.domain.signatures import phrase_checks
from frepo_core.settings import Settings

_NAME = "secrets_printed"


def were_printed(database: Database, settings: Settings) -> bool:
    """Return whether `frepo install` has printed the secrets that are in force now."""
    with database.reading() as session:
        stored = session.scalar(select(Installation.value).where(Installation.name == _NAME)) or ""
    salt, _, check = stored.partition(":")
    return bool(check) and check in phrase_checks(_both(settings), salt)


def were_made_here(settings: Settings) -> bool:
    """Return whether the phrase in force is in the file of generated secrets, and not one that the operator has set."""
    path, phrase = settings.app_secrets_file, settings.enc_token_phrase.get_secret_value()
    return path is not None and path.exists() and phrase in path.read_text()


def note_printed(database: Database, settings: Settings) -> None:
    """Note that the secrets in force were printed, or came out of a safe."""
    salt = secrets.token_hex(16)
    value = f"{salt}:{next(phrase_checks(_both(settings), salt))}"
    database.write(lambda session: session.merge(Installation(name=_NAME, value=value)))


def _both(settings: Settings) -> str:
    return f"{settings.enc_token_phrase.get_secret_value()}\n{settings.app_secret.get_secret_value()}"
