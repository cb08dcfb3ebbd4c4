"""One table of a version that is stored as a difference to a newer one, and sealed, too."""

import random

import pytest
from webtest import TestApp

from frepo_core.web import make_app
from support.client import Client

V1 = "/api/v1/collections"


@pytest.fixture(params=["local", "sealed"])
def ini(request, ini, tmp_path):
    """Settings of a local storage, or of a sealed one over it, and a folder for the lists of parts."""
    ini = ini | {"parts.directory": str(tmp_path / "parts")}
    if request.param == "local":
        return ini
    (tmp_path / "sealed.keys").write_text("7a" * 32 + "\n")
    sealed = {"fs.adapter": "sealed", "fs.sealed.over": "local", "fs.sealed.key_file": str(tmp_path / "sealed.keys")}
    return ini | sealed


def dumps():
    """Yield dumps of sqlite3 that have most rows of a large table in common, and another row in a small one."""
    words = random.Random(7)
    rows = [b"INSERT INTO large VALUES('%s');\n" % words.randbytes(60).hex().encode() for _ in range(3000)]
    for night in range(100):
        rows[night * 7] = b"INSERT INTO large VALUES('%s');\n" % words.randbytes(60).hex().encode()
        yield (
            b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE large (words);\n%s"
            b"CREATE TABLE small (n);\nINSERT INTO small VALUES(%d);\nCOMMIT;\n" % (b"".join(rows), night)
        )


def rows(dump):
    """Return the lines with rows of the large table."""
    return [line for line in dump.splitlines() if b"INTO large" in line]


@pytest.mark.costly
def test_a_table_of_a_version_that_is_a_difference_is_that_of_its_night(history, services, admin):
    # An application of its own: the endpoints of a plug-in keep the services that they were made for.
    root, collection, nights = Client(TestApp(make_app(services)), admin), history.make(), dumps()
    for _ in range(3):
        history.night(collection, next(nights))
    assert {"delta"} < set(history.encodings(collection))

    for number in range(1, 4):
        path = f"{V1}/{collection}/versions/v{number}/contents"
        tables = {one["name"]: one["number"] for one in root.get(path).json["items"]}
        small, large = (root.get(f"{path}/{tables[name]}").body for name in ("small", "large"))

        assert b"INSERT INTO small VALUES(%d);" % (number - 1) in small
        assert b"INSERT INTO large" not in small
        assert rows(history.contents[collection][number]) == rows(large)
