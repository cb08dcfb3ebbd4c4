"""Plain files in /api/v1."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.naming import FILE_NAME_PROBLEM
from frepo_core.domain.roles import Role
from support.client import follow

FILES = "/api/v1/files"


@pytest.fixture
def add(root):
    """Upload: `add(b"content", "a.txt", tag=["x"])`."""

    def add(content=b"hello", name="a.txt", headers=(), client=root, **query):
        return client.call("POST", FILES, {"name": name, **query}, body=content, headers=headers)

    return add


def path_of(answer):
    return f"{FILES}/{answer.json['name']}"


def test_an_upload_is_answered_with_the_file(add, root):
    answer = add(tag=["b", "a"], public="true")

    assert (201, f"http://localhost:80{path_of(answer)}") == (answer.status_int, answer.headers["Location"])
    shown = root.get(path_of(answer))
    assert sorted(answer.json.pop("tags")) == sorted(shown.json["tags"]) == ["a", "b"]
    assert ("a.txt", 5, True, False) == tuple(
        shown.json[name] for name in ("requested_name", "size", "public", "password_protected")
    )


def test_known_content_is_answered_with_its_file(add):
    first, again = add(), add(name="b.txt")

    assert (201, 200, first.json) == (first.status_int, again.status_int, again.json)


def test_a_repeated_upload_gets_the_first_answer(add):
    first, again = (add(headers={"Idempotency-Key": "k"}) for _ in range(2))

    assert (first.status_int, first.json) == (again.status_int, again.json)


def test_a_form_has_the_name_of_its_part(root):
    answer = root.send_form(("file", "żółw.txt", b"form"), path=FILES)

    assert (201, "żółw.txt") == (answer.status_int, answer.json["requested_name"])


def test_a_name_may_have_a_colon_and_emoji_unlike_in_the_first_api(add, root):
    name = "dump 02:00 \N{PARTY POPPER}.sql"

    file = add(name=name).json
    found = root.get(FILES, {"q": "02:00 \N{PARTY POPPER}"}).json["items"]
    content = root.get(f"{FILES}/{file['name']}/content")

    assert [(name, file["name"])] == [(one["requested_name"], one["name"]) for one in found]
    assert f"{file['name'][:10]}dump_02_00_tada_.sql" == file["name"]
    assert "filename*=UTF-8''dump%2002%3A00%20%F0%9F%8E%89.sql" in content.headers["Content-Disposition"]
    first = root.call("POST", "/repository/file/upload", {"fileName": name}, body=b"other")
    assert (400, {"form.fileName": [FILE_NAME_PROBLEM]}) == (first.status_int, first.json["fields"])


def test_a_name_is_needed(root):
    answer = root.call("POST", FILES, body=b"x")

    assert (400, "name") == (answer.status_int, answer.json["errors"][0]["field"])


def test_pages(add, root):
    for number in range(5):
        add(b"%d" % number, f"{number}.txt")
    found, cursor = [], ""
    while cursor is not None:
        page = root.get(FILES, {"limit": 2, "cursor": cursor}).json
        found.append([file["requested_name"] for file in page["items"]])
        cursor = page["next"]

    assert [["4.txt", "3.txt"], ["2.txt", "1.txt"], ["0.txt"]] == found
    assert 400 == root.get(FILES, {"cursor": "W10"}).status_int


def test_filters(add, root):
    add(b"1", "one.txt", tag=["x"])
    add(b"2", "two.txt", tag=["y"])

    assert ["one.txt"] == [file["requested_name"] for file in root.get(FILES, {"q": "ONE"}).json["items"]]
    assert 2 == len(root.get(FILES, {"tag": ["x", "y"]}).json["items"])
    assert [] == root.get(FILES, {"mime_type": "image/png"}).json["items"]


def test_a_list_leaves_out_what_the_token_may_not_see(add, holder):
    add(b"1", "open.txt", public="true")
    add(b"2", "private.txt")
    add(b"3", "tagged.txt", public="true", tag=["x"])
    add(b"4", "locked.txt", public="true", headers={"X-File-Password": "p-5ecre7"})
    lister = holder(Role.VIEW_LISTING)

    def names(**headers):
        return [file["requested_name"] for file in lister.get(FILES, headers=headers).json["items"]]

    assert ["open.txt"] == names()
    assert ["locked.txt", "open.txt"] == names(**{"X-File-Password": "p-5ecre7"})


def test_a_patch_changes_what_it_names(add, root, anonymous):
    path = path_of(add(tag=["a"], public="true"))

    answer = root.call("PATCH", path, json={"tags": ["b"], "password": "p-5ecre7"})

    assert (200, ["b"], True, True) == (
        answer.status_int,
        *(answer.json[name] for name in ("tags", "public", "password_protected")),
    )
    refusal = anonymous.get(f"{path}/content")
    assert (401, "The password is missing or wrong") == (refusal.status_int, refusal.json["title"])
    assert 200 == anonymous.get(f"{path}/content", headers={"X-File-Password": "p-5ecre7"}).status_int
    assert not root.call("PATCH", path, json={"password": None}).json["password_protected"]


def test_a_missing_or_wrong_password_is_named_with_its_header(add, holder, anonymous):
    for headers, detail in [
        ({}, "The file has a password: send it in the header X-File-Password"),
        ({"X-File-Password": "wrong-5ecre7"}, "The password in the header X-File-Password is not that of the file"),
    ]:
        for has_token, status in [(False, 401), (True, 403)]:
            client = holder(Role.UPLOAD_ALL) if has_token else anonymous
            path = path_of(add(headers={"X-File-Password": "right-5ecre7"}))

            refusals = [client.get(f"{path}/content", headers=headers)]
            if has_token:
                refusals += [client.get(path, headers=headers), client.delete(path, headers=headers)]

            for refusal in refusals:
                assert (status, "The password is missing or wrong", detail) == (
                    refusal.status_int,
                    *(refusal.json[name] for name in ("title", "detail")),
                )


def test_the_first_api_keeps_its_text_for_a_wrong_password(add, anonymous):
    name = add(headers={"X-File-Password": "right-5ecre7"}).json["name"]

    refusal = anonymous.download(name, {"password": "wrong-5ecre7"})

    expected = {"status": "No access to read the file, maybe invalid password?", "error_code": 403}
    assert (403, expected) == (refusal.status_int, {name: refusal.json[name] for name in expected})


def test_only_a_token_can_change_a_file_with_a_password(add, anonymous):
    path = path_of(add(headers={"X-File-Password": "right-5ecre7"}))

    refusal = anonymous.call("PATCH", path, json={"public": True}, headers={"X-File-Password": "right-5ecre7"})

    assert (401, "A valid token is needed") == (refusal.status_int, refusal.json["title"])


@pytest.mark.parametrize("change", [{"password": None}, {"password": "mine-5ecre7"}, {"tags": ["mine"]}, {"name": "b"}])
def test_who_cannot_open_a_file_with_a_password_does_not_edit_it(add, holder, root, change):
    client = holder(Role.UPLOAD_ALL, Role.OVERWRITE)
    path = path_of(add(headers={"X-File-Password": "right-5ecre7"}))
    before = root.get(path).headers["ETag"]

    refused = [
        client.call("PATCH", path, json=change, headers={"X-File-Password": one}) for one in ("", "wrong-5ecre7")
    ]

    assert [403, 403] == [answer.status_int for answer in refused]
    assert before == root.get(path).headers["ETag"]
    done = client.call("PATCH", path, json=change, headers={"X-File-Password": "right-5ecre7"})
    assert 200 == done.status_int


def test_a_stale_etag_prevents_a_change(add, root):
    path = path_of(add())
    stale = root.get(path).headers["ETag"]
    root.call("PATCH", path, json={"password": "p-5ecre7"})

    assert 412 == root.call("PATCH", path, json={"public": True}, headers={"If-Match": stale}).status_int
    assert not root.get(path).json["public"]


@pytest.mark.databases
def test_a_deletion_may_depend_on_the_etag(add, root):
    path, other = path_of(add()), path_of(add(b"other"))
    stale = root.get(path).headers["ETag"]
    fresh = root.call("PATCH", path, json={"public": True}).headers["ETag"]

    assert [412, 400] == [root.delete(path, headers={"If-Match": tag}).status_int for tag in (stale, "")]
    assert root.get(path).json["public"]
    assert [204, 404] == [root.delete(path, headers={"If-Match": fresh}).status_int for _ in range(2)]
    assert 204 == root.delete(other).status_int


@pytest.mark.databases
def test_a_renamed_file_is_found_under_its_new_name_only(add, root):
    made = add(tag=["t"])
    other = add(b"other")

    answer = root.call("PATCH", path_of(made), json={"name": "żółw.sql"})

    digest = made.json["sha256"]
    assert (200, f"{digest[:10]}zolw.sql", "żółw.sql", ["t"]) == (
        answer.status_int,
        *(answer.json[name] for name in ("name", "requested_name", "tags")),
    )
    assert b"hello" == root.get(f"{path_of(answer)}/content").body
    assert "sql" in root.get(f"{path_of(answer)}/content").headers["Content-Disposition"]
    assert [404, 404] == [root.get(f"{path_of(made)}{end}").status_int for end in ("", "/content")]
    found = {q: [file["name"] for file in root.get(FILES, {"q": q}).json["items"]] for q in ("zolw", "żółw", "a.txt")}
    assert {"zolw": [answer.json["name"]], "żółw": [answer.json["name"]], "a.txt": [other.json["name"]]} == found


def test_a_renamed_file_does_not_take_the_name_of_another(add, root):
    plain, locked = add(), add(headers={"X-File-Password": "p-5ecre7"}, name="b.txt")
    renamed = root.call("PATCH", path_of(locked), json={"name": "a.txt"})

    assert "a.txt" == renamed.json["requested_name"]
    assert plain.json["name"] != renamed.json["name"]
    assert renamed.json["name"].endswith("a.txt")


def test_aliases_follow_a_renamed_file(add, root, anonymous):
    made = add()
    root.call("PUT", "/api/v1/aliases/logo", json={"file": made.json["name"]})
    renamed = root.call("PATCH", path_of(made), json={"name": "b.txt"})

    assert renamed.json["name"] == root.get("/api/v1/aliases/logo").json["file"]
    assert b"hello" == anonymous.get("/repository/file/logo").body


def test_a_rename_is_an_event_and_changes_the_etag(add, root, services):
    made = add()
    etag = root.get(path_of(made)).headers["ETag"]
    renamed = root.call("PATCH", path_of(made), json={"name": "b.txt"}, headers={"If-Match": etag})
    same = root.call("PATCH", path_of(renamed), json={"name": "b.txt"}, headers={"If-Match": etag})

    assert (200, 412) == (renamed.status_int, same.status_int)
    with services.database.reading() as session:
        (event,) = session.scalars(select(Event).where(Event.kind == "file.edited")).all()
    assert {"name": made.json["name"], "requested_name": "a.txt", "requestedName": "a.txt"} == event.data["before"]
    assert {"name": renamed.json["name"], "requested_name": "b.txt", "requestedName": "b.txt"} == event.data["after"]


def test_a_wrong_change_is_refused(add, root):
    for name in ["", "a/b", "..", None]:
        answer = root.call("PATCH", path_of(add()), json={"name": name})
        assert (400, "name") == (answer.status_int, answer.json["errors"][0]["field"]), name

    for public in ["yes", 1, None]:
        answer = root.call("PATCH", path_of(add()), json={"public": public})
        assert (400, "public") == (answer.status_int, answer.json["errors"][0]["field"]), public


def test_another_password_ends_the_links_that_replace_it(add, root, anonymous):
    """The token that made them does not: docs/roles.md."""
    path = path_of(add())
    links = []
    for password in ("first-5ecre7", "second-5ecre7", "second-5ecre7"):
        root.call("PATCH", path, json={"password": password})
        ended = {follow(anonymous, link).status_int for link in links}
        links.append(root.post(f"{path}/link", {}).json["url"])

        assert ended <= {403}, password
        assert 200 == follow(anonymous, links[-1]).status_int


def test_content_and_link(add, root, anonymous):
    path = path_of(add(headers={"X-File-Password": "p-5ecre7"}))
    link = root.post(f"{path}/link", {"expires_in": "1m"}).json

    assert b"ell" == root.get(f"{path}/content", headers={"Range": "bytes=1-3"}).body
    assert b"hello" == follow(anonymous, link["url"]).body
    assert 401 == anonymous.get(f"{path}/content").status_int


def test_deleting(add, root, uploader):
    path = path_of(add())

    assert 403 == uploader.delete(path).status_int
    assert 204 == root.delete(path).status_int
    missing = root.get(path)
    assert (404, f"There is no file '{path.rpartition('/')[2]}'") == (missing.status_int, missing.json["detail"])


def test_the_name_of_a_missing_file_is_repeated_as_it_is(root):
    """Elsewhere in texts, `maxBackupsCount` is a field of the first API, and gets its name in this one."""
    assert "There is no file 'maxBackupsCount.txt'" == root.get(f"{FILES}/maxBackupsCount.txt").json["detail"]


def test_the_file_of_a_version_is_not_a_plain_file(root, push, collection):
    for path in ["", "/link"]:
        name = push(collection, b"one").json["version"]["file"]["filename"]
        answer = root.post(f"{FILES}/{name}{path}", {}) if path else root.get(f"{FILES}/{name}")

        assert 404 == answer.status_int, path
