"""A stored content that can be read at any position, over storages that only stream to the end."""

import io
import random

import pytest

from frepo_core.services.content.seekable_content import seekable_content

CONTENT = random.Random(7).randbytes(5_000_000)


@pytest.fixture
def opened():
    """The positions at which the content was opened."""
    return []


@pytest.fixture
def content(opened):
    def open_at(position):
        opened.append(position)
        return io.BytesIO(CONTENT[position:])

    with seekable_content(open_at, len(CONTENT)) as content:
        yield content


def test_it_reads_the_same_as_a_file(content):
    chance, file = random.Random(3), io.BytesIO(CONTENT)
    for _ in range(200):
        position, size = chance.randrange(len(CONTENT)), chance.choice([0, 1, 500, 300_000])
        assert file.seek(position) == content.seek(position)
        assert file.read(size) == content.read(size)


def test_it_ends_at_its_size(content):
    content.seek(-3, io.SEEK_END)

    assert (CONTENT[-3:], b"") == (content.read(), content.read(1))
    content.seek(len(CONTENT) + 7)
    assert b"" == content.read(1)


def test_reading_from_the_start_to_the_end_opens_it_once(content, opened):
    assert CONTENT == content.read()
    assert [0] == opened


def test_a_short_way_ahead_is_read_over(content, opened):
    content.read(10)
    content.seek(900_000)

    assert CONTENT[900_000:900_010] == content.read(10)
    assert [0] == opened


def test_a_long_way_ahead_and_back_opens_it_again(content, opened):
    content.seek(4_000_000)
    content.read(10)
    content.seek(5)

    assert CONTENT[5:15] == content.read(10)
    assert 3 == len(opened)
