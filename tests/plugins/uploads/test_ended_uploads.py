"""Records of ended uploads are apart from those of open ones, and each token has a limited number."""

from datetime import timedelta

from frepo_core.db import utc_now
from frepo_uploads import uploads

HOURS = timedelta(hours=1)


def test_a_creation_reads_none(tus, collection, tmp_path, monkeypatch):
    for _ in range(5):
        tus.create(3, b"abc", collection=collection)
    read = []
    right = uploads._read
    monkeypatch.setattr(uploads, "_read", lambda path: read.append(path) or right(path))
    tus.create(3, collection=collection)

    assert [] == read


def test_the_oldest_of_a_token_are_forgotten(tus, admin_tus, collection, monkeypatch, tmp_path):
    monkeypatch.setattr(uploads, "MOST_OF_TOKEN", 10)
    other = admin_tus.create(3, b"abc", collection=collection)
    made = [tus.create(3, b"abc", collection=collection) for _ in range(25)]
    known = [tus.head(path).status_int == 200 for path in made]

    assert 200 == admin_tus.head(other).status_int
    assert known == sorted(known)
    assert 8 < sum(known) <= 10


def test_what_an_earlier_version_kept_is_told_and_forgotten(tus, collection, run_job, tmp_path):
    path = tus.create(3, b"abc", collection=collection)
    (record,) = (tmp_path / "uploads" / "ended").glob("*/*.json")
    record.rename(tmp_path / "uploads" / record.name)

    assert "committed" == tus.show(path)["state"]
    assert 1 == run_job(utc_now() + 25 * HOURS)["forgotten"]
    assert 404 == tus.head(path).status_int


def test_nothing_is_left_of_them_after_a_day(tus, collection, run_job, tmp_path):
    tus.create(3, b"abc", collection=collection)

    assert 1 == run_job(utc_now() + 25 * HOURS)["forgotten"]
    assert [] == [*(tmp_path / "uploads" / "ended").iterdir()]
