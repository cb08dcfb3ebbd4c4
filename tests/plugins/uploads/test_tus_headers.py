"""The headers of tus 1.0."""

import base64
import contextlib
import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_uploads.web.tus_headers import (
    HeaderError,
    answer_headers,
    format_metadata,
    parse_checksum,
    parse_creation,
    parse_metadata,
    parse_part,
)
from support.work import count_work

PART = {"Content-Type": "application/offset+octet-stream"}
KEYS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=","), min_size=1)


@given(st.dictionaries(KEYS, st.text()))
def test_metadata_comes_back_as_it_was_sent(metadata):
    assert metadata == parse_metadata(format_metadata(metadata))


def test_a_key_of_the_metadata_may_have_no_value():
    assert {"public": "", "filename": "a.txt"} == parse_metadata("public, filename YS50eHQ=")


def test_metadata_that_is_none_is_refused():
    for text in [",", "a YQ==,a YQ==", "a Y", "a /w==", "a YQ== b", "ä YQ=="]:
        with pytest.raises(HeaderError) as refused:
            parse_metadata(text)

        assert 400 == refused.value.status, text


def test_an_upload_says_its_length_or_that_it_will():
    assert 5 == parse_creation({"Upload-Length": "5"}).length
    assert None is parse_creation({"Upload-Defer-Length": "1"}).length


def test_a_creation_that_cannot_be_understood_is_refused():
    for headers, status in [
        ({}, 400),
        ({"Upload-Length": "5", "Upload-Defer-Length": "1"}, 400),
        ({"Upload-Defer-Length": "0"}, 400),
        ({"Upload-Length": "-1"}, 400),
        ({"Upload-Length": "1e3"}, 400),
        ({"Upload-Length": str(2**63)}, 400),
        ({"Upload-Length": "5", "Upload-Concat": "partial"}, 400),
        ({"Upload-Length": "5", "Upload-Commit": "yes"}, 400),
        ({"Upload-Length": "5", "Content-Type": "text/plain", "Content-Length": "5"}, 415),
    ]:
        with pytest.raises(HeaderError) as refused:
            parse_creation(headers)

        assert status == refused.value.status, headers


def test_a_part_that_cannot_be_understood_is_refused():
    for headers, status in [
        ({"Upload-Offset": "0"}, 415),
        (PART, 400),
        (PART | {"Upload-Offset": "x"}, 400),
        (PART | {"Upload-Offset": "0", "Upload-Checksum": "md5 AAAA"}, 400),
        (PART | {"Upload-Offset": "0", "Upload-Checksum": "sha256 AAAA"}, 400),
    ]:
        with pytest.raises(HeaderError) as refused:
            parse_part(headers)

        assert status == refused.value.status, headers


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_checksum_is_that_of_its_algorithm(algorithm):
    digest = hashlib.new(algorithm, b"abc").digest()

    found = parse_checksum({"Upload-Checksum": f"{algorithm} {base64.b64encode(digest).decode()}"})
    own = found.new_hash()
    own.update(b"abc")

    assert (digest, digest) == (found.digest, own.digest())


def test_the_end_of_an_upload_is_an_http_date():
    found = answer_headers(offset=3, expires=datetime(2026, 11, 26, 9, 0, 5, 7, tzinfo=UTC))

    assert ("3", "Thu, 26 Nov 2026 09:00:05 GMT") == (found["Upload-Offset"], found["Upload-Expires"])


HOSTILE = {
    "pairs": lambda size: ",".join(f"k{number} YQ==" for number in range(size // 12)),
    "commas": lambda size: "," * size,
    "one key": lambda size: "a" * size,
    "one value": lambda size: "k " + "A" * (size // 4 * 4),
    "blanks": lambda size: " " * size,
}


def parse_all(text):
    for parse, value in ((parse_metadata, text), (parse_checksum, {"Upload-Checksum": f"sha256 {text}"})):
        with contextlib.suppress(HeaderError):
            parse(value)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_the_work_for_a_byte_of_a_header_is_bounded(make):
    half, whole = (count_work(lambda size=size: parse_all(make(size))) for size in (4 << 10, 8 << 10))

    assert whole.calls < 2.2 * half.calls + 50
    assert whole.scanned < 2.2 * half.scanned + 1000
