"""The row of a collection, and edits of its versions."""

import pytest

from frepo_core.db.models import Collection


@pytest.fixture
def row(services):
    """Return the row of a collection."""

    def row(collection):
        with services.database.reading() as session:
            return session.get(Collection, collection)

    return row


@pytest.fixture
def edit(services, sender):
    """Change a version by its number."""

    def edit(collection, number, change):
        version = services.versions.find(collection, f"v{number}")
        return services.version_edits.edit(collection, version.id, change, by=sender)

    return edit
