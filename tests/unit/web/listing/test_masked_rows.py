"""Which rows of the listing are shown in full, and which are masked."""

import string

import pytest

from frepo_core.domain.roles import Role

MASKED = {
    "publicUrl": "",
    "filename": "anonymous",
    "requested_filename": "anonymous",
    "contentHash": "",
    "tags": [],
    "public": None,
}


NEITHER, FILE_ONLY, SHARED = ([], []), ([], ["a"]), (["a", "b"], ["b", "c"])


def test_a_row_is_shown_in_full_if_the_caller_shares_a_tag_and_may_download(publish, listing, make_token):
    cases = [
        (NEITHER, "", "", [], True),
        (FILE_ONLY, "", "", [], False),
        ((["a"], []), "", "", [], False),
        ((["a"], ["b"]), "", "", [], False),
        (SHARED, "", "", [], True),
        (FILE_ONLY, "", "", [Role.VIEW_ALL_TAGS], True),
        (FILE_ONLY, "", "", [Role.VIEW_ANY_FILE], False),
        (NEITHER, "", "some", [], True),
        (NEITHER, "word-5ecre7", "", [], False),
        (NEITHER, "word-5ecre7", "sword-5ecre7", [], False),
        (NEITHER, "word-5ecre7", "WORD-5ecre7", [], False),
        (NEITHER, "word-5ecre7", "word-5ecre7", [], True),
        (NEITHER, "word-5ecre7", "", [Role.VIEW_ANY_FILE], True),
        (NEITHER, "word-5ecre7", "", [Role.VIEW_ALL_TAGS], False),
        (SHARED, "word-5ecre7", "", [], False),
        (SHARED, "word-5ecre7", "word-5ecre7", [], True),
        (FILE_ONLY, "word-5ecre7", "word-5ecre7", [], False),
        (FILE_ONLY, "word-5ecre7", "word-5ecre7", [Role.VIEW_ALL_TAGS], True),
        (FILE_ONLY, "word-5ecre7", "", [Role.VIEW_ALL_TAGS, Role.VIEW_ANY_FILE], True),
    ]
    for name, case in zip(string.ascii_letters, cases, strict=False):
        (token_tags, file_tags), password, given, roles, shown = case
        more = {"tags": "&tags=".join(file_tags)} if file_tags else {}
        stored = publish(name, password=password, **more)

        rows = listing(f"password={given}", token=make_token(Role.VIEW_LISTING, *roles, tags=token_tags))

        row = max(rows, key=lambda each: each["id"])
        assert row["filename"] == (stored if shown else "anonymous"), case
        assert ({key: row[key] for key in MASKED} == MASKED) is not shown, case
        assert (row["size"], row["attributes"]) == (1, {"isPasswordProtected": bool(password)}), case


@pytest.mark.databases
def test_a_search_does_not_match_masked_values(publish, names, make_token):
    for token_tags, roles, found in [
        (["b"], [], []),
        ([], [], []),
        (["a", "b"], [], ["a"]),
        ([], [Role.VIEW_ALL_TAGS], ["a"]),
    ]:
        for query in ["searchQuery=a.t", "tags=a", "tags=a&searchQuery=t"]:
            publish("a.txt", tags="a")

            assert names(query, token=make_token(Role.VIEW_LISTING, *roles, tags=token_tags)) == [
                f"{name}.txt" for name in found
            ]


@pytest.mark.databases
def test_a_search_by_a_token_without_tags_finds_files_without_tags(publish, names, make_token):
    publish("a.txt")

    assert names("searchQuery=a.t", token=make_token(Role.VIEW_LISTING)) == ["a.txt"]


def test_an_administrator_sees_everything_unmasked(publish, names, make_token):
    publish("a", tags="x", password="word-5ecre7")

    assert names(token=make_token(Role.ADMINISTRATOR, tags=["y"])) == ["a"]


def test_one_password_unmasks_all_files_that_it_matches(publish, listing, make_token):
    for n in range(20):
        publish(str(n), password="word-5ecre7")

    rows = listing("password=word-5ecre7", token=make_token(Role.VIEW_LISTING))

    assert {row["filename"] == "anonymous" for row in rows} == {False}
