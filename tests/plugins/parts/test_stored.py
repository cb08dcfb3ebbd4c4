"""A part of a content in a sealed storage is read without the rest of it, and nothing of it is kept in clear."""

import random

import pytest

SIZE = 24 << 20


@pytest.fixture
def large():
    """A dump with a small table at the end of its rows."""
    words = random.Random(7)
    rows = b"".join(
        b"INSERT INTO large VALUES(%d,'%s');\n" % (n, words.randbytes(60).hex().encode()) for n in range(SIZE // 160)
    )
    return (
        b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE large (n, words);\n"
        + rows
        + b"CREATE TABLE small (n);\nINSERT INTO small VALUES(7);\nCOMMIT;\n"
    )


@pytest.fixture
def frepo_service_settings(tmp_path):
    (tmp_path / "keys").write_text("7a" * 32 + "\n")
    (tmp_path / "keys").chmod(0o600)
    (tmp_path / "bytes").mkdir()
    return {
        "parts.directory": str(tmp_path / "parts"),
        "fs.adapter": "sealed",
        "fs.sealed.over": "below",
        "fs.sealed.key_file": str(tmp_path / "keys"),
        "storages": "below",
        "storage.below.adapter": "local",
        "storage.below.directory": str(tmp_path / "bytes"),
        "trash.min_free": "0",
    }


def test_a_table_in_a_sealed_storage_is_read_without_the_rest(frepo_service, large, tmp_path, monkeypatch):
    collection = frepo_service.make_collection(filename="shop.sql")
    assert 200 == frepo_service.push(collection, large).status
    path = f"/api/v1/collections/{collection}/versions/latest/contents"
    (small,) = frepo_service.request("GET", f"{path}?name=small").json["items"]
    read = []
    from frepo_sealed import backend

    open_sealed = backend.SealedStorage.open

    def counted(self, key, start=0, length=None):
        content = open_sealed(self, key, start, length)
        inner = content.read

        def count(size=-1):
            data = inner(size)
            read.append(len(data))
            return data

        monkeypatch.setattr(content, "read", count, raising=False)
        return content

    monkeypatch.setattr(backend.SealedStorage, "open", counted)
    answer = frepo_service.request("GET", f"{path}/{small['number']}")

    assert b"CREATE TABLE small (n);\nINSERT INTO small VALUES(7);" in answer.body
    assert b"large" not in answer.body
    assert 0 < sum(read) < 4 << 20
    for stored in [*(tmp_path / "bytes").rglob("*"), *(tmp_path / "parts").rglob("*")]:
        assert not stored.is_file() or b"CREATE TABLE" not in stored.read_bytes()
