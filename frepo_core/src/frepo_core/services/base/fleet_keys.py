"""Gives keys of fleet files to things: one at a time, so that a key has one thing, whoever asks at the same moment."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, EnrolmentCode, Installation, Token
from frepo_core.errors import FieldsError

from .installation import ID

Keyed: TypeAlias = type[Collection] | type[Token] | type[EnrolmentCode]
_WORDS: Mapping[Keyed, str] = {Collection: "collection", Token: "token", EnrolmentCode: "one-time code"}


def claim_fleet_key(session: Session, model: Keyed, key: str) -> None:
    """Wait until no other transaction gives a key, then require that no thing has this one.

    A token that has ended, and a code that was used or has ended, has its key no more. Raises `FieldsError`.
    """
    session.execute(select(Installation.value).where(Installation.name == ID).with_for_update())
    taken = select(model.fleet_key).where(model.fleet_key == key, *_in_force(model))
    if session.execute(taken.limit(1)).first() is not None:
        problem = f"the key {key!r} was given to another {_WORDS[model]} meanwhile: run the command again"
        raise FieldsError({"key": [problem]})


def _in_force(model: Any) -> list[ColumnElement[bool]]:
    now = utc_now()
    if model is Token:
        return [or_(Token.expires_at.is_(None), Token.expires_at > now)]
    return [EnrolmentCode.used_at.is_(None), EnrolmentCode.expires_at > now] if model is EnrolmentCode else []
