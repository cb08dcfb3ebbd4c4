"""The token phrase: a check value in the database shows whether the tokens were stored with the same phrase."""

import hmac
import logging
import secrets

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Installation, Token
from frepo_core.domain.signatures import phrase_checks
from frepo_core.errors import ConfigurationError

log = logging.getLogger(__name__)

PHRASE_CHECK = "token_phrase_check"
_WRONG = (
    "enc.token_phrase (ENC_TOKEN_PHRASE) is not the phrase that the tokens in this database are stored with: "
    "no token would be valid. Set the former phrase again; after a restore, the one from the time of the backup. "
    "Where app.secrets_file (APP_SECRETS_FILE) keeps the phrase, restore that file. "
    "If you changed the phrase on purpose, run `frepo secrets:accept-new-phrase`: all existing tokens become invalid."
)


def verify(database: Database, phrase: str) -> None:
    """Compare the phrase with the check value in the database; store a check value if the database has none.

    Raises `ConfigurationError` if the tokens were stored with another phrase.
    """
    stored = _stored(database)
    if not stored:
        made = _make(phrase)
        stored = database.write(lambda session: _store_first(session, made))
        if stored == made:
            return
    if not is_check_of(phrase, stored):
        raise ConfigurationError(_WRONG)


def accept(database: Database, phrase: str) -> int | None:
    """Replace the check value by that of this phrase, which makes existing tokens invalid.

    Return the number of existing tokens, or None if the database has this phrase already.
    """
    stored = _stored(database)
    if stored and is_check_of(phrase, stored):
        return None

    def work(session: Session) -> int:
        session.merge(Installation(name=PHRASE_CHECK, value=_make(phrase)))
        return _count_tokens(session)

    return database.write(work)


def _stored(database: Database) -> str | None:
    with database.reading() as session:
        return session.scalar(select(Installation.value).where(Installation.name == PHRASE_CHECK))


def _store_first(session: Session, made: str) -> str:
    """Store this check value and return it, or return the one that another process has stored meanwhile."""
    if found := session.get(Installation, PHRASE_CHECK):
        return found.value
    if tokens := _count_tokens(session):
        log.warning(
            "a check value of enc.token_phrase is stored for the first time; whether the %s existing tokens "
            "were stored with this phrase cannot be checked",
            tokens,
        )
    session.add(Installation(name=PHRASE_CHECK, value=made))
    session.flush()
    return made


def _count_tokens(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Token)) or 0


def _make(phrase: str) -> str:
    salt = secrets.token_hex(16)
    return f"{salt}:{next(phrase_checks(phrase, salt))}"


def is_check_of(phrase: str, stored: str) -> bool:
    """Return whether the check value is that of this phrase."""
    salt, _, check = stored.partition(":")
    return any(hmac.compare_digest(made, check) for made in phrase_checks(phrase, salt))
