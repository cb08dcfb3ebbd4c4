"""A disk for temporary files that is full while an old version is decoded: no storage has failed."""

import pytest

from frepo_core.features.compact import spooled_part
from frepo_core.services.content.decoder_memory import DecoderWait
from support.encodings.nights import nights
from support.servers.disks import small_disk


@pytest.fixture
def ini(ini, tmp_path):
    with small_disk(tmp_path / "temporary", "4m") as folder:
        yield ini | {"temp_directory": str(folder)}


@pytest.mark.parametrize("has_copy", [True, False])
def test_a_version_is_sent_from_the_decoder_and_its_storage_stays_healthy(
    services, blobs, add, mirror, kinds, tmp_path, monkeypatch, has_copy, caplog
):
    services.object_reads.notes._start = lambda work: work()
    contents = list(nights(2, 25_000))  # 2.5 MB each
    files = [add(content) for content in contents]
    blobs.chain(contents)
    if has_copy:
        mirror()
    monkeypatch.setattr(spooled_part, "MOST_OF_FREE", 10)  # as if others had filled the disk a moment later
    (tmp_path / "temporary" / "others").write_bytes(bytes(3 << 20))
    before, blob = kinds(), services.files.find(files[0].stored_name).blob

    with services.stored_content.open_spooled(blob, 0, blob.size, DecoderWait(seconds=5)) as part:
        found = b"".join(iter(lambda: part.read(1 << 16), b""))

    assert contents[0] == found
    assert before == kinds()
    assert not services.backends.breaker.skips("local")
    assert "The disk for temporary files has no room" in caplog.text
