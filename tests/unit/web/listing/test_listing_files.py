import pytest

from frepo_core.domain.roles import Role

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")


@pytest.mark.databases
def test_a_row_has_the_documented_fields(app, publish, listing):
    stored = publish("a.txt", b"content", tags="news")

    (row,) = listing()

    assert row.pop("dateAdded").keys() == {"date", "timezone_type", "timezone"}
    assert row.pop("id") > 0
    assert row == {
        "publicUrl": f"http://localhost:80/repository/file/{stored}",
        "filename": stored,
        "requested_filename": stored[10:],
        "contentHash": "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73",
        "mimeType": "text/plain",
        "tags": ["news"],
        "public": True,
        "size": 7,
        "attributes": {"isPasswordProtected": False},
    }


@pytest.mark.databases
def test_the_newest_is_first(publish, names):
    for name in "abc":
        publish(name)

    assert names() == ["c", "b", "a"]


@pytest.mark.costly
@pytest.mark.databases
def test_a_search_is_literal_and_ignores_case(publish, names):
    publish("A.B-C_d.txt")
    publish("xzy.txt")
    for search, found in [
        ("b-c", ["A.B-C_d.txt"]),
        ("A.B-C_D.TXT", ["A.B-C_d.txt"]),
        ("_", ["A.B-C_d.txt"]),
        ("%25", []),
        ("%25.%25", []),
        ("x_y", []),
        ("zy.t", ["xzy.txt"]),
        ("ZY.TX", ["xzy.txt"]),
        ("%22xzy%22", []),
        ("xzy*", []),
        ("xzy+OR+txt", []),
        ("/", []),
        ("\\", []),
        ("'", []),
        ("", ["xzy.txt", "A.B-C_d.txt"]),
        ("txt", ["xzy.txt", "A.B-C_d.txt"]),
    ]:
        assert names(f"searchQuery={search}") == found


@pytest.mark.costly
@pytest.mark.databases
def test_one_of_the_tags_suffices(publish, names):
    publish("1", tags="one")
    publish("12", **{"tags[]": "one&tags[]=two"})
    publish("2", tags="two")
    publish("0")
    for query, found in [
        ("tags[]=one", ["12", "1"]),
        ("tags[0]=one", ["12", "1"]),
        ("tags[0]=one&tags[1]=two", ["2", "12", "1"]),
        ("tags[]=one&tags[]=two", ["2", "12", "1"]),
        ("tags=two", ["2", "12"]),
        ("tags[]=ONE", ["12", "1"]),
        ("tags[]=three", []),
        ("tags[]=one&tags[]=three", ["12", "1"]),
        ("tags[]=o%25", []),
    ]:
        assert names(query) == found


@pytest.mark.databases
def test_one_of_the_types_suffices(publish, names):
    publish("p", PNG)
    publish("t", b"some words")
    for query, found in [
        ("mimes[]=image/png", ["p"]),
        ("mimes[]=image/png&mimes[]=text/plain", ["t", "p"]),
        ("mimes=Text/Plain", ["t"]),
        ("mimes[]=image", []),
    ]:
        assert names(query) == found


@pytest.mark.databases
def test_all_conditions_must_match(publish, names):
    publish("a1", tags="one")
    publish("b1", tags="one")
    publish("a2", tags="two")

    assert names("searchQuery=a&tags[]=one&mimes[]=text/plain") == ["a1"]


@pytest.mark.databases
def test_results_are_split_into_pages_and_counted(app, admin, publish):
    for name in "abcde":
        publish(name)
    for query, found, pagination in [
        ("limit=2", ["e", "d"], {"current": 1, "max": 3, "perPage": 2}),
        ("limit=2&page=3", ["a"], {"current": 3, "max": 3, "perPage": 2}),
        ("limit=2&page=4", [], {"current": 4, "max": 3, "perPage": 2}),
        ("limit=1000&page=1000000000", [], {"current": 1000000000, "max": 1, "perPage": 1000}),
        ("limit=5", ["e", "d", "c", "b", "a"], {"current": 1, "max": 1, "perPage": 5}),
        ("", ["e", "d", "c", "b", "a"], {"current": 1, "max": 1, "perPage": 20}),
        ("searchQuery=nothing", [], {"current": 1, "max": 1, "perPage": 20}),
    ]:
        answer = app.get(f"/repository?{query}", headers={"token": admin}).json

        assert [row["filename"][10:] for row in answer["results"]] == found
        assert answer["pagination"] == pagination


@pytest.mark.databases
def test_the_number_of_counted_pages_is_limited(app, admin, publish, monkeypatch):
    for page, last in [(1, 2), (2, 3), (3, 3)]:
        monkeypatch.setattr("frepo_core.services.files.file_query.COUNT_AHEAD", 2)
        for name in "abcde":
            publish(name)

        answer = app.get(f"/repository?limit=2&page={page}", headers={"token": admin}).json

        assert last == answer["pagination"]["max"]


def test_a_file_that_was_deleted_is_not_found_by_its_name(app, admin, publish, names):
    app.delete(f"/repository/file/{publish('gone-for-good')}", headers={"token": admin})
    publish("gone-for-now")

    assert names("searchQuery=GONE-FOR") == ["gone-for-now"]


def test_an_invalid_page_is_an_error_of_its_field(app, admin):
    for query, field in [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=x", "page"),
        ("page=1.5", "page"),
        ("page=99999999999999999999", "page"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=all", "limit"),
        ("searchQuery=" + "x" * 256, "searchQuery"),
        ("password=" + "x" * 251, "password"),
    ]:
        answer = app.get(f"/repository?{query}", headers={"token": admin}, status=400)

        assert list(answer.json["fields"]) == [f"form.{field}"]


def test_a_query_that_is_not_utf_8_is_refused(app, admin):
    app.get("/repository?searchQuery=%ff", headers={"token": admin}, status=400)


def test_only_an_administrator_sees_files_that_are_not_public(publish, names, make_token):
    publish("open")
    publish("quiet", public="false")
    assert names(token=make_token(Role.VIEW_LISTING, Role.VIEW_ALL_TAGS, Role.VIEW_ANY_FILE)) == ["open"]
    assert names() == ["quiet", "open"]


@pytest.mark.databases
def test_versions_are_never_listed(app, admin, names):
    form = {"filename": "db.sql"}
    collection = app.post_json(f"/repository/collection?_token={admin}", form, status=202).json["collection"]["id"]
    app.post(f"/repository/collection/{collection}/backup?_token={admin}", b"SELECT 1;")

    assert names() == []
