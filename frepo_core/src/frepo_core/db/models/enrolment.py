"""The tables of the one-time codes with which hosts enrol themselves."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from ..types import exact
from .base import Base


class EnrolmentCode(Base):
    """A one-time code, stored under the HMAC of the code.

    `name` and `token_expires_at` are those of the token that is made with it; null never ends. `token_key` and
    `token_fingerprint` are that token's, null until the code is used. The token may have been revoked since.
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


class EnrolmentCollection(Base):
    """A collection whose list gets the token that is made with a code."""

    __tablename__ = "enrolment_collection"

    code_id: Mapped[str] = mapped_column(
        exact(36), ForeignKey("enrolment_code.id", ondelete="CASCADE"), primary_key=True
    )
    collection_id: Mapped[str] = mapped_column(
        exact(36), ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True, index=True
    )
