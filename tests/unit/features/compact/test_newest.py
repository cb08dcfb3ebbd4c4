"""How the newest versions are stored, and what was uploaded again."""

import pytest


@pytest.mark.costly
def test_a_content_that_is_uploaded_again_is_stored_raw_again(history):
    collection = history.make()
    first = history.dump()
    for content in (first, None, None):
        history.push(collection, content)
    history.job()
    history.push(collection, first)

    assert 1 == history.job()["expanded"]
    assert ["raw", "delta", "delta", "raw"] == history.encodings(collection)
    history.check()


@pytest.mark.costly
def test_a_content_that_was_uploaded_again_long_ago_is_not_expanded_to_be_encoded_at_once(history):
    collection, other = history.make(), history.make()
    for _ in range(3):
        history.push(collection)
    history.job()
    history.push(other, history.contents[collection][1])
    history.push(other, history.contents[collection][2])
    history.push(other)
    history.push(other)

    assert 0 == history.job()["expanded"]
    history.check()


@pytest.mark.costly
def test_the_newest_is_compressed_in_its_night_if_the_setting_says_so(history, services):
    object.__setattr__(services.settings, "compact_newest", "zstd")
    collection = history.make()
    for number in range(1, 5):
        history.push(collection)
        history.job(hours=2)

        assert ["delta"] * (number - 1) + ["zstd"] == history.encodings(collection)
    history.check()
