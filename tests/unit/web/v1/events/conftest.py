"""Events with numbers, and collections."""

import pytest
from sqlalchemy import text


@pytest.fixture
def number(services):
    """Number the events, as the worker does."""

    def number():
        with services.database.engine.begin() as connection:
            connection.execute(text("UPDATE event SET position = id WHERE position IS NULL"))

    return number


@pytest.fixture
def create(root):
    """Create a collection; return its id."""
    return lambda name="dump.sql": root.post("/api/v1/collections", {"name": name}).json["id"]
