"""Uploads and listings of files."""

import pytest


@pytest.fixture
def publish(app, admin):
    """Upload a public file; return its stored name."""

    def publish(name, content=None, token=admin, **more):
        query = {"fileName": name, "public": "true", **more}
        answer = app.post(
            f"/repository/file/upload?{'&'.join(f'{key}={value}' for key, value in query.items())}",
            content or name.encode(),
            headers={"token": token},
        )
        return answer.json["filename"]

    return publish


@pytest.fixture
def listing(app, admin):
    """List files; return the answer's rows."""

    def listing(query="", token=admin):
        return app.get(f"/repository?{query}", headers={"token": token}).json["results"]

    return listing


@pytest.fixture
def names(listing):
    """List files; return the names without the ten digits before them."""
    return lambda query="", **more: [row["filename"][10:] for row in listing(query, **more)]
