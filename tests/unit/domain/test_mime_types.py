"""Which types may be uploaded and shown (http-api.md, 2.3 and 2.4)."""

from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.identity import Identity
from frepo_core.domain.mime_types import (
    BACKUPS,
    DOCUMENTS,
    IMAGES,
    VIDEOS,
    canonical_type,
    is_allowed_by_token,
)

TYPES = st.sampled_from(sorted(IMAGES | VIDEOS | DOCUMENTS | BACKUPS | {"text/html", "audio/mpeg", "font/woff2"}))


def holder(*roles, mimes=()):
    return Identity(token="0" * 64, fingerprint="0" * 12, roles=frozenset(roles), mimes=tuple(mimes))


def test_images_are_as_documented():
    assert {f"image/{name}" for name in ["png", "jpeg", "gif", "webp", "svg+xml", "avif", "bmp", "tiff"]} == IMAGES


def test_videos_are_as_documented():
    names = ["mp4", "webm", "ogg", "mpeg", "quicktime", "x-msvideo", "x-ms-wmv", "x-flv", "3gpp", "mp2t", "x-matroska"]

    assert {f"video/{name}" for name in names} | {"application/ogg"} == VIDEOS


def test_documents_include_the_documented_types():
    for mime in [
        "application/pdf",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.presentation",
        "application/json",
        "text/csv",
        "text/plain",
        "text/markdown",
    ]:
        assert mime in DOCUMENTS


def test_backups_include_the_documented_types():
    for mime in [
        "application/gzip",
        "application/zip",
        "application/x-tar",
        "application/x-bzip2",
        "application/x-xz",
        "application/zstd",
        "application/x-7z-compressed",
        "application/sql",
        "text/plain",
        "text/xml",
        "application/json",
        "application/octet-stream",
    ]:
        assert mime in BACKUPS


def test_a_token_for_programs_allows_plain_text():
    """The service detected programs as such types before."""
    for listed in ["text/x-sql", "text/x-shellscript", "TEXT/X-C"]:
        assert is_allowed_by_token(holder(mimes=[listed]), "text/plain")
        assert not is_allowed_by_token(holder(mimes=[listed]), "text/html")


@given(TYPES)
def test_an_empty_list_narrows_nothing(mime):
    assert is_allowed_by_token(holder(), mime)


def test_a_type_has_its_common_name():
    for sniffed, common in [
        ("application/x-gzip", "application/gzip"),
        ("image/x-ms-bmp", "image/bmp"),
        ("text/plain", "text/plain"),
        ("text/x-python", "text/plain"),
        ("Text/X-SQL", "text/plain"),
    ]:
        assert common == canonical_type(sniffed)


@given(TYPES)
def test_a_common_name_stays(mime):
    assert mime == canonical_type(mime)
