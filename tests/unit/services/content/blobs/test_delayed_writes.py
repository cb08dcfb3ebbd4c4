"""Bytes whose row is written late are stored again, because a sweep may delete them."""

from datetime import timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.services.content.blobs import new_bytes
from frepo_core.services.content.objects.found_objects import FoundObjects

pytestmark = pytest.mark.databases


@pytest.fixture
def waits(services, monkeypatch):
    """Delay the first write transaction by changing the clock."""

    def waits(length):
        write = services.database.write

        def wait(work, **more):
            monkeypatch.setattr(new_bytes, "utc_now", lambda: utc_now() + length)
            return write(work, **more)

        monkeypatch.setattr(services.database, "write", wait)

    return waits


@pytest.mark.parametrize(("wait", "stores"), [(0, 1), (60, 1), (1801, 2), (-1801, 2)])
def test_bytes_older_than_the_grace_period_of_a_sweep_are_stored_again(
    waits, wrap, upload, keys, blob_keys, wait, stores
):
    storage = wrap()
    waits(timedelta(seconds=wait))
    upload(b"content")

    assert stores == storage.calls["store"]
    assert blob_keys() == keys()
    assert 1 == len(keys())


def test_bytes_that_were_deleted_during_a_short_delay_are_stored_again(
    waits, wrap, upload, storage, services, blob_keys, keys
):
    wrap()
    write = services.database.write

    def delete_once(work, **more):
        services.database.write = write
        for stat in storage.list():
            storage.delete(stat.key)
        return write(work, **more)

    services.database.write = delete_once
    waits(timedelta(seconds=2))
    upload(b"content")

    assert blob_keys() == keys()
    assert 1 == len(keys())


def test_bytes_that_a_sweep_has_found_during_a_delay_are_left_to_it(waits, upload, storage, services, keys):
    write = services.database.write

    def find_once(work, **more):
        services.database.write = write
        found = FoundObjects(services.database, services.backends)
        found.register(services.backends.current, list(storage.list()), keeps=timedelta(days=1))
        return write(work, **more)

    services.database.write = find_once
    waits(timedelta(minutes=31))
    upload(b"content")

    assert 2 == len(keys())
