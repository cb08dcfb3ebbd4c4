"""The rows by which versions are found by their labels. The labels themselves are in the rows of the versions."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Version, VersionLabel
from frepo_core.db.row_inserts import insert_of, insert_rows

_INSERT = insert_of(VersionLabel)


def insert_labels(session: Session, collection_id: str, version_id: str, labels: Mapping[str, str]) -> None:
    """Insert the rows of a version that is inserted already. They are deleted with it."""
    of_version = {"collection_id": collection_id, "version_id": version_id}
    insert_rows(session, _INSERT, [{**of_version, "name": name, "value": value} for name, value in labels.items()])


def has_label(collection_id: str, name: str, value: str) -> ColumnElement[bool]:
    """Return the condition that a version of the collection has a label with this value."""
    of_collection = VersionLabel.collection_id == collection_id
    query = select(VersionLabel.version_id).where(of_collection, VersionLabel.name == name, VersionLabel.value == value)
    return Version.id.in_(query)
