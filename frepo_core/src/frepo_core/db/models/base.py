"""The base class of all tables."""

from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    MetaData,
    inspect,
)
from sqlalchemy.orm import DeclarativeBase

from ..types import JsonObject, JsonTexts, UtcDateTime

NAMES = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Base of all models. Constraints get names, so that migrations can refer to them."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it from the class
        datetime: UtcDateTime(),
        list[str]: JsonTexts(),
        int: BigInteger(),
        dict[str, Any]: JsonObject(),
    }


Model = TypeVar("Model", bound=Base)


def copy_of(row: Model) -> Model:
    """Return a new row with the same values, in no session.

    A transaction that is run again has to insert new rows: SQLAlchemy takes those of the first attempt as inserted.
    """
    columns = inspect(type(row)).column_attrs
    return type(row)(**{column.key: getattr(row, column.key) for column in columns})
