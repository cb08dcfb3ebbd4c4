"""The helpers of frepo_core.plugins for storages: key checks, size checks and readers."""

from io import BytesIO

import pytest

from frepo_core.plugins import ExactReader, StorageUnavailable, exactly, is_key, partial_name


def test_a_path_inside_the_root_is_a_key():
    for key in ["a", "a/b", ".dot", "...", "a..b", "partial-", "a/.partial"]:
        assert is_key(key)


def test_a_path_outside_the_root_is_refused_as_key():
    for key in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a\nDELE b", "a\r", "a\0", ".partial-1", "a/.partial-1/b"]:
        assert not is_key(key)


def test_a_temporary_name_is_unique_and_not_a_key():
    names = {partial_name() for _ in range(100)}

    assert 100 == len(names)
    assert [] == [name for name in names if is_key(name)]


def test_a_content_of_the_given_size_is_yielded_in_chunks():
    assert [b"abc", b"de"] == list(exactly(BytesIO(b"abcde"), 5, 3))


def test_a_content_of_another_size_is_refused():
    for size in [4, 6]:
        with pytest.raises(StorageUnavailable, match=f"{size} were announced"):
            list(exactly(BytesIO(b"abcde"), size))
            pytest.fail(repr(size))


def test_no_byte_beyond_the_size_is_yielded():
    chunks = exactly(BytesIO(b"abcdef"), 4, 3)

    assert b"abc" == next(chunks)
    with pytest.raises(StorageUnavailable):
        next(chunks)


def test_a_reader_stops_at_its_length():
    content = b"abcdef"
    reader = ExactReader(lambda offset, size: content[offset : offset + min(size, 2)], 5, list)

    assert b"abcde" == reader.read()


def test_a_reader_refuses_an_early_end():
    reader = ExactReader(lambda offset, size: b"abc"[offset : offset + size], 5, list)

    with pytest.raises(StorageUnavailable, match="2 bytes early") as caught:
        reader.read()

    assert isinstance(caught.value.__cause__, EOFError)


def test_a_reader_is_closed_once():
    closed = []
    reader = ExactReader(lambda offset, size: b"", 5, lambda: closed.append(1))

    reader.close()
    reader.close()

    assert [1] == closed
