"""Chains of differences in a sealed storage: encoded, read, sealed with a new key, and expanded."""

import pytest

from frepo_core.db.types import simulated_time
from frepo_core.features.compact.feature import CompactServices
from frepo_core.services.upkeep.storage import verify
from frepo_sealed.backend import SealedStorage
from frepo_sealed.keys import KeyRing
from frepo_storage_local import LocalSettings, LocalStorage

OLD, NEW = bytes(range(32)), bytes(32)


@pytest.fixture
def ini(ini, tmp_path):
    """Settings of a sealed storage that writes with the old key, and reads what has the new one."""
    (tmp_path / "sealed.keys").write_text(f"{OLD.hex()}\n{NEW.hex()}\n")
    sealed = {"fs.adapter": "sealed", "fs.sealed.over": "local", "fs.sealed.key_file": str(tmp_path / "sealed.keys")}
    return ini | sealed


@pytest.fixture
def below(ini):
    return LocalStorage(LocalSettings(directory=ini["fs.local.directory"]))


@pytest.mark.costly
def test_chains_are_sealed_anew_and_expanded(history, services, below):
    collection = history.make(count=5)
    for _ in range(6):
        history.night(collection)
    assert ["delta", "raw"] == history.encodings(collection)[-2:]
    history.check()
    objects = {stat.key: (below.root / stat.key).read_bytes() for stat in below.list()}
    assert all(data.startswith(b"frepo sealed 1\n") for data in objects.values())
    assert not any(row.key in objects for row in history.rows(collection).values())

    # As another process does, whose file of keys has the new one first.
    rotation = SealedStorage(below, KeyRing([NEW, OLD]), key_file="sealed.keys")
    assert len(objects) == rotation.seal_anew(lambda count: None)
    history.check()
    history.night(collection)
    history.check()

    with simulated_time(history.time):
        services.feature(CompactServices).compaction.expand_all(keep_going=lambda: None)
    assert {"raw"} == set(history.encodings(collection))
    history.check()


def test_a_damaged_base_is_marked_and_so_is_what_needs_it(history, services, below):
    collection = history.make()
    for _ in range(3):
        history.night(collection)
    services.blobs.gate.delete_superseded(services.backends.current, 1 << 40, reads=True)
    oldest, base, newest = history.rows(collection).values()
    assert oldest.base_digest == base.digest
    path = below.root / KeyRing([OLD]).first.name(base.key)
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(data[:-100] + bytes([data[-100] ^ 1]) + data[-99:])

    damaged = {damage.key: damage for damage in verify(services.database, services.backends).damaged}

    assert damaged.keys() == {oldest.key, base.key}
    assert "Segment 0 of a sealed object is damaged" in damaged[base.key].problem
    assert f"cannot be decoded because of its base {base.digest}" in damaged[oldest.key].problem
    assert all(damage.is_marked for damage in damaged.values())
    assert history.contents[collection][3] == history.read(newest)
