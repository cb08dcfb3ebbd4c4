"""The table of tokens."""

from datetime import datetime

from sqlalchemy import (
    ForeignKey,
    Index,
    String,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class Token(Base):
    """An access token, stored under the HMAC of its id.

    `first_key` is the key of the first token of a chain of rotations, null for a token that replaced no other.
    `chain_key` is that of the first token of a chain of tokens that have replaced themselves, and `replaces_key` of the
    one that this one has replaced so; both are null for all others.
    `fleet_key` is its key in the file of `frepo apply`, which the tokens that replace it have, too.
    `created_by` is as the actor of an event; it is null for tokens from before migration 0017. `last_used_at` and
    `last_used_from` are written once a minute, see `services/access/token_last_use.py`.
    """

    __tablename__ = "token"

    key: Mapped[str] = mapped_column(exact(64), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(16), index=True, unique=True)
    expires_at: Mapped[datetime | None] = mapped_column(index=True)
    roles: Mapped[list[str]]
    tags: Mapped[list[str]]
    mimes: Mapped[list[str]]
    max_file_size: Mapped[int]
    user_agents: Mapped[list[str]]
    ip_addresses: Mapped[list[str]]
    created_at: Mapped[datetime]
    name: Mapped[str] = mapped_column(exact(128), server_default=text("''"))
    created_by: Mapped[str | None] = mapped_column(exact(128))
    last_used_at: Mapped[datetime | None]
    last_used_from: Mapped[str | None] = mapped_column(String(64))
    first_key: Mapped[str | None] = mapped_column(exact(64))
    chain_key: Mapped[str | None] = mapped_column(exact(64), index=True)
    replaces_key: Mapped[str | None] = mapped_column(exact(64))
    fleet_key: Mapped[str | None] = mapped_column(exact(128), index=True)


class EnrolmentCode(Base):
    """A one-time code, stored under the HMAC of the code.

    `name` and `token_expires_at` are those of the token that is made with it; null never ends. `token_key` and
    `token_fingerprint` are that token's, null until the code is used. The token may have been revoked since.
    `fleet_key` is the key of the token in the file of `frepo apply`.
    """

    __tablename__ = "enrolment_code"
    __table_args__ = (Index("ix_enrolment_code_newest", "created_at", "id"),)

    id: Mapped[str] = mapped_column(exact(36), primary_key=True)
    key: Mapped[str] = mapped_column(exact(64), unique=True)
    name: Mapped[str] = mapped_column(exact(128), index=True)
    token_expires_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    created_by: Mapped[str] = mapped_column(exact(128))
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]
    token_key: Mapped[str | None] = mapped_column(exact(64))
    token_fingerprint: Mapped[str | None] = mapped_column(String(16))
    fleet_key: Mapped[str | None] = mapped_column(exact(128), index=True)


class EnrolmentCollection(Base):
    """A collection whose list gets the token that is made with a code."""

    __tablename__ = "enrolment_collection"

    code_id: Mapped[str] = mapped_column(
        exact(36), ForeignKey("enrolment_code.id", ondelete="CASCADE"), primary_key=True
    )
    collection_id: Mapped[str] = mapped_column(
        exact(36), ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True, index=True
    )
