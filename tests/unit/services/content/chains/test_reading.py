"""Encoded contents are read as raw ones are: any range, at any depth, whatever the versions have in common."""

import random
from contextlib import ExitStack

import pytest

from frepo_core.db.models import Content
from frepo_core.errors import ReadersBusyError
from frepo_core.features.compact.decoded_parts import PARTS
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.services.content.decoder_memory import DecoderWait
from support.encodings.histories import CHANGES, SEGMENT, history
from support.scale import first_of

CHAINS = ["grow at the start", "grow in the middle", "shrink", "shuffle", "edit", "binary", "tiny", "equal"]


def some_ranges(chance, size):
    """Return first and last positions: all, bytes at the ends of segments, and some anywhere."""
    ends = [0, SEGMENT - 1, SEGMENT, size // 2, size - 1]
    found = [(start, min(size - 1, start + SEGMENT + 7)) for start in ends if 0 <= start < size]
    found += [tuple(sorted((chance.randrange(size), chance.randrange(size)))) for _ in range(2) if size]
    return found


def read_ranges(download, name, content, chance):
    """Return the ranges whose bytes are wrong."""
    return [
        (first, last)
        for first, last in some_ranges(chance, len(content))
        if download(name, 206, Range=f"bytes={first}-{last}").body != content[first : last + 1]
    ]


@pytest.mark.parametrize("seed", first_of(range(12)))
def test_every_range_at_every_depth_is_that_of_the_content(blobs, upload, download, seed):
    chance = random.Random(seed)
    changes = chance.sample(CHAINS, 6)
    contents = [content for content in dict.fromkeys(history(seed, changes)) if content]  # an empty one is refused
    names = [upload(content, f"{number}.bin").file.stored_name for number, content in enumerate(contents)]

    blobs.chain(contents, newest=chance.choice(["raw", "zstd"]))

    assert set(changes) <= set(CHANGES)
    assert len(contents) - 1 == sum(blobs.row(content).encoding == "delta" for content in contents)
    assert contents == [download(name).body for name in names]
    assert [[]] * len(names) == [
        read_ranges(download, name, content, chance) for name, content in zip(names, contents, strict=True)
    ]


def test_validators_and_digests_do_not_change(blobs, contents, uploaded, download):
    kept = ("ETag", "Repr-Digest", "Last-Modified", "Content-Length", "Content-Type", "Accept-Ranges")
    before = download(uploaded[0])
    blobs.chain(contents)
    after = download(uploaded[0])
    part = download(uploaded[0], 206, Range="bytes=5-9", **{"If-Range": before.headers["ETag"]})

    assert [before.headers.get(name) for name in kept] == [after.headers.get(name) for name in kept]
    assert contents[0][5:10] == part.body


def test_the_storages_of_others_are_never_asked_to_send_an_object(services, blobs, contents, uploaded, storage):
    raw = services.files.find(uploaded[3]).blob
    storage.url = lambda key, **more: f"https://store/{key}"
    blobs.chain(contents)
    encoded = services.files.find(uploaded[0]).blob
    about = {"filename": "a", "content_type": "a/b"}

    content = services.stored_content
    assert (f"https://store/{raw.key}", None) == (content.url(raw, **about), content.url(encoded, **about))
    assert (True, False) == (content.path(raw) is not None, content.path(encoded) is not None)
    assert content.open_file(encoded) is None


def test_a_third_reader_of_parts_is_asked_to_come_again(services, blobs, contents, uploaded, download):
    blobs.chain(contents)
    content, blob = services.stored_content, services.files.find(uploaded[0]).blob
    with ExitStack() as stack:
        for _ in range(PARTS):
            stack.enter_context(content.open(blob, 0, 10))
        refused = download(uploaded[0], 503)

        assert (7016109, True) == (refused.json["code"], int(refused.headers["Retry-After"]) > 0)
        assert contents[3] == download(uploaded[3]).body
        with pytest.raises(ReadersBusyError):
            content.open(blob, 0, 10)
    assert contents[0] == download(uploaded[0]).body


def test_slow_readers_of_spooled_parts_hold_no_decoder(services, blobs, contents, uploaded):
    blobs.chain(contents)
    content, blob = services.stored_content, services.files.find(uploaded[0]).blob
    with ExitStack() as stack:
        wait = DecoderWait(seconds=5)
        parts = [stack.enter_context(content.open_spooled(blob, 0, blob.size, wait)) for _ in range(PARTS + 2)]

        assert {contents[0]} == {part.read() for part in parts}


def test_a_restore_test_that_finds_no_free_decoder_says_nothing_about_the_version(
    services, blobs, contents, make_collection, push, sender
):
    collection = make_collection(9)
    for content in contents:
        push(collection, content)
    blobs.chain(contents)
    blob, found = services.versions.find(collection, "v1").file.blob, services.collections.get(collection)
    with ExitStack() as stack:
        for _ in range(PARTS):
            stack.enter_context(services.stored_content.open(blob, 0, 10))
        busy = services.feature(RestoreTestServices).tests.run(found, "v1", by=sender, command="cat")
    after = services.feature(RestoreTestServices).tests.run(found, "v1", by=sender, command="cat")

    assert ("not checked", "good") == (busy.outcome, after.outcome)
    assert "send this request again later" in busy.message


def test_a_storage_of_a_third_party_needs_nothing_more(services, blobs, contents, uploaded, storages, storage):
    """It has the least that the contract asks for: no path, no URL, streams that cannot seek."""

    class Least:
        def __init__(self, stream):
            self.read, self.close = stream.read, stream.close

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

    class Foreign:
        def __getattr__(self, name):
            return getattr(storage, name)

        def path(self, key):
            return None

        def open(self, key, start=0, length=None):
            return Least(storage.open(key, start, length))

    storages._built[storages.current] = Foreign()
    blobs.chain(contents, newest="zstd")

    for name, content in zip(uploaded, contents, strict=True):
        with services.stored_content.open(services.files.find(name).blob, 70_000) as stream:
            assert content[70_000:] == b"".join(iter(lambda: stream.read(10_000), b""))


def test_an_upload_of_a_content_that_is_a_delta_uses_it(services, blobs, contents, uploaded, upload, keys):
    blobs.chain(contents)
    before, row = keys(), blobs.row(contents[0])

    def expand_since():
        with services.database.reading() as session:
            return session.get(Content, row.content_id).expand_since

    assert expand_since() is None
    again = upload(contents[0], "again.sql").file.stored_name
    after = blobs.row(contents[0])

    assert (before, row.key) == (keys(), after.key)
    assert expand_since() is not None
    assert services.files.find(again).blob.id == row.content_id
    blobs.expand(contents[0])
    assert expand_since() is None
    assert after.encoding == "delta"
