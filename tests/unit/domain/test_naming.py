"""Names of files, tags, versions and keys (http-api.md, 2.1, 2.2 and 4.2)."""

import hashlib
import re
import string
import unicodedata
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.naming import (
    FILE_NAME_PROBLEM,
    ascii_name,
    check_file_name,
    check_tag,
    name_from_url,
    new_blob_key,
    parse_version_number,
    stored_name,
    version_name,
)

ALLOWED = string.ascii_letters + string.digits + ".-_+ ()[]!,@$"
NAMES = st.text(ALLOWED, min_size=1, max_size=200).filter(lambda name: name not in {".", ".."} and name == name.strip())
DIGESTS = st.binary().map(lambda content: hashlib.sha256(content).hexdigest())


def accepted(check, text):
    try:
        return check(text)
    except ValueError:
        return None


@given(NAMES)
def test_a_name_of_allowed_characters_stays_as_it_is(name):
    assert (name, name) == (check_file_name(name), check_file_name(name, may_have_symbols=False))


SIGNS = " .-_+()[]!,@$'&%#~="
WIDE_NAMES = st.text(
    st.one_of(st.sampled_from(SIGNS), st.characters(categories=["L", "M", "N", "S"])), min_size=1, max_size=200
)


@given(st.one_of(st.text(), WIDE_NAMES))
def test_a_name_is_kept_in_nfc_or_refused(name):
    normal = unicodedata.normalize("NFC", name)
    is_allowed = all(c in SIGNS or unicodedata.category(c)[0] in "LMN" for c in normal)
    fits = 1 <= len(normal) <= 200 and is_allowed and normal == normal.strip() and normal not in {".", ".."}

    assert (normal if fits else None) == accepted(partial(check_file_name, may_have_symbols=False), name)


def test_a_name_may_have_a_colon_and_symbols_unless_it_is_of_the_first_api():
    for name in ["dump 2026-11-25T02:00.sql", "\N{PARTY POPPER}.png", "\N{SNOWMAN}\ufe0f", "5 \N{EURO SIGN}.pdf"]:
        assert (name, None) == (check_file_name(name), accepted(partial(check_file_name, may_have_symbols=False), name))


def test_emoji_that_are_joined_to_one_stay_joined():
    family = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}.png"

    assert family == check_file_name(family)


def test_a_name_of_many_marks_is_refused_quickly():
    """Sorting a long run of combining marks takes quadratic time."""
    with pytest.raises(ValueError, match=FILE_NAME_PROBLEM):
        check_file_name("a" + "\u0301\u0323" * 5_000_000)


def test_the_error_of_a_name_that_is_not_nfc_suggests_to_normalize_it():
    for name in [
        "",
        ".",
        "..",
        "a/b",
        "a\\b",
        "../a",
        "a\0b",
        "a\n",
        "a" * 201,
        "a" * 10_000,
        " a",
        "a ",
        "a;b",
        "a\u2028b",
    ] + ["a?b", "a*b", 'a"b', "a<b", "a>b", "a|b", "a\u202eb", "a\ud800b", "\u00a0a", "a^b", "\u00e9" * 201]:
        with pytest.raises(ValueError, match=f"^{FILE_NAME_PROBLEM}$"):
            check_file_name(name)
            pytest.fail(repr(name))


def test_the_problem_has_its_documented_text():
    assert FILE_NAME_PROBLEM == "File name is not valid, please normalize it"


def test_odd_but_allowed_names():
    for name in ["...", "a", "a" * 200, "a (1) [x]!,@$+_-.txt", "-rf"]:
        assert name == check_file_name(name)


def test_the_stored_name_of_other_characters_is_a_transliteration():
    for name, stored in [
        ("żółw zdjęcie.png", "zolw_zdjecie.png"),
        ("Mike's cat.png", "Mike_s_cat.png"),
        ("a&b.png", "a_b.png"),
        ("100%.png", "100_.png"),
        ("北京.tar.gz", "BeiJing.tar.gz"),
        ("привет мир-v7.sql", "privet_mir-v7.sql"),
        ("\u0301", "file"),
        ("'", "file"),
        ("'.png", "_.png"),
        ("02:00.sql", "02_00.sql"),
        ("\N{SNOWMAN}.png", "_snowman2_.png"),
        ("٣.csv", "3.csv"),
        ("a (1) [x]!,@$+_-.txt", "a (1) [x]!,@$+_-.txt"),
    ]:
        assert f"{'0' * 10}{stored}" == stored_name("0" * 64, check_file_name(name))


@given(WIDE_NAMES.filter(lambda name: accepted(check_file_name, name)), st.integers(1, 2**63 - 1))
def test_a_stored_name_is_ascii_and_fits_its_column(name, number):
    named = version_name(check_file_name(name), number)

    assert re.fullmatch(r"[A-Za-z0-9.\-_+ ()\[\]!,@$]{1,245}", ascii_name(named))
    assert len(named) <= 255


def test_a_shortened_name_keeps_number_and_extension():
    """The transliteration of one of these characters is a whole sentence."""
    name = ascii_name(version_name("\ufdfa" * 200 + ".sql.gz", 2**63 - 1))

    assert (len(name), name[:5]) == (245, ascii_name("\ufdfa")[:5])
    assert name.endswith(f"-v{2**63 - 1}.sql.gz")


def test_a_tag_is_kept_in_lower_case():
    for tag in ["a", "A.b-c_1", "a" * 64, "\u017c\u00f3\u0142\u0107"]:
        assert tag.lower() == check_tag(tag)


def test_other_tags_are_refused():
    for tag in ["", "a" * 65, "a b", "a/b", "a\n", "a,b", "#a", "\u0130"]:
        assert accepted(check_tag, tag) is None


@given(st.text(min_size=1, max_size=66))
def test_a_normalized_tag_is_accepted_unchanged(tag):
    kept = accepted(check_tag, tag)

    assert kept is None or kept == check_tag(kept)


@given(st.text())
def test_the_name_from_a_url_is_always_a_file_name(path):
    name = name_from_url("http://example.org/" + path.replace("[", "").replace("]", ""))

    assert name == check_file_name(name)


def test_names_from_urls():
    for url, name in [
        ("http://example.org/a/b.txt", "b.txt"),
        ("http://example.org/a/b.txt?x=/c#d", "b.txt"),
        ("http://example.org/a/", "a"),
        ("http://example.org", "file"),
        ("http://example.org/..", "file"),
        ("http://example.org/a%20b.txt", "a b.txt"),
        ("http://example.org/%2e%2e%2fetc%2fpasswd", "passwd"),
        ("http://example.org/z%C5%BC.txt", "z\u017c.txt"),
        ("http://example.org/z%CC%87.txt", "\u017c.txt"),
        ("http://example.org/a%3Fb%26c.txt", "a_b&c.txt"),
        ("http://example.org/%E2%98%83", "file"),
    ]:
        assert name == name_from_url(url)


@given(DIGESTS, NAMES)
def test_a_stored_name_is_ten_digits_of_the_digest_and_the_name(digest, name):
    assert digest[:10] + name == stored_name(digest, name)


@given(DIGESTS, NAMES, st.integers(1, 50))
def test_further_stored_names_take_their_digits_from_the_digest_and_a_counter(digest, name, attempt):
    expected = hashlib.sha256(f"{digest}{attempt}".encode()).hexdigest()[:10] + name

    assert expected == stored_name(digest, name, attempt)


@given(DIGESTS)
def test_stored_names_of_one_digest_do_not_repeat(digest):
    names = {stored_name(digest, "a", attempt) for attempt in range(20)}

    assert len(names) == 20


def test_the_number_is_inserted_before_the_extension():
    for filename, named in [
        ("dump.sql", "dump-v7.sql"),
        ("name.sql.gz", "name-v7.sql.gz"),
        ("name.tar.gz", "name-v7.tar.gz"),
        ("name.TAR.GZ", "name-v7.TAR.GZ"),
        ("name.tar.zst.gpg", "name-v7.tar.zst.gpg"),
        ("name.tgz", "name-v7.tgz"),
        ("name.gz", "name-v7.gz"),
        ("name.7z", "name-v7.7z"),
        ("name.tar.7z", "name-v7.tar.7z"),
        ("clip.3gp", "clip-v7.3gp"),
        ("name", "name-v7"),
        ("my.site.sql", "my.site-v7.sql"),
        ("release-1.2.tar.gz", "release-1.2-v7.tar.gz"),
        ("postgres-9.6", "postgres-9.6-v7"),
        ("dump.2026-01-01", "dump.2026-01-01-v7"),
        (".env", ".env-v7"),
        ("name.", "name.-v7"),
        ("a..gz", "a.-v7.gz"),
        ("a b (1).txt", "a b (1)-v7.txt"),
    ]:
        assert named == version_name(filename, 7)


@given(NAMES, st.integers(1, 2**63 - 1))
def test_a_version_name_is_the_name_with_the_number_inserted(filename, number):
    named = version_name(filename, number)

    assert filename in {named[: match.start()] + named[match.end() :] for match in re.finditer(rf"-v{number}", named)}


@given(NAMES, st.integers(1, 2**63 - 1), DIGESTS)
def test_a_stored_version_name_fits_its_column(filename, number, digest):
    assert len(stored_name(digest, version_name(filename, number))) <= 255


@given(st.integers(1, 2**63 - 1), st.sampled_from("vV"))
def test_a_version_number_is_read(number, letter):
    assert number == parse_version_number(f"{letter}{number}")


def test_other_texts_are_refused_as_version_numbers():
    for text in ["", "v", "v0", "v01", "v-1", "v1.0", " v1", "v1\n", "1", "w1", "v\u0661", f"v{2**63}"]:
        assert parse_version_number(text) is None


@given(DIGESTS)
def test_a_key_contains_the_digest_and_is_unique(digest):
    first, second = new_blob_key(digest), new_blob_key(digest)

    assert re.fullmatch(rf"{digest[:2]}/{digest}-[0-9a-f]{{16}}", first)
    assert first != second
