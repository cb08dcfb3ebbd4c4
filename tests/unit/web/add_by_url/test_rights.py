"""add-by-url respects the token's rights, and does not send the token to other servers."""

from frepo_core.domain.roles import Role
from support.servers.remote import endless, reply


def test_reading_stops_at_the_tokens_size_limit(add, make_token, remote, kept):
    small = make_token(Role.UPLOAD_ALL, max_file_size=100_000)
    server = remote({"/x": endless(reply("200 OK"))})

    assert (add(f"{server.origin}/x", status=400, token=small).json["error_code"], kept()) == (3001, 0)


def test_a_type_that_the_token_may_not_upload_is_refused(add, make_token, remote, kept):
    images = make_token(Role.UPLOAD_IMAGES)

    assert (add(f"{remote().origin}/a.png", status=400, token=images).json["error_code"], kept()) == (3000, 0)


def test_neither_the_token_nor_the_user_of_the_url_is_sent_to_the_server(add, token, remote):
    server = remote()

    add(server.origin.replace("://", "://user:word@") + "/x")

    assert token not in server.requests[0]
    assert "Authorization" not in server.requests[0]


def test_rights_are_checked_before_anything_is_fetched(add, make_token, remote):
    for roles, more, request_more, reason in [
        ([Role.VIEW_ANY_FILE], {}, {}, "role"),
        ([Role.UPLOAD_ALL], {"tags": ["a"]}, {"tags": ["b"]}, "tag_not_allowed"),
        ([Role.UPLOAD_ALL, Role.UPLOAD_NO_PASSWORD], {}, {"password": "word-5ecre7"}, "invalid_password"),
        ([Role.UPLOAD_ALL], {}, {"fileOverwrite": True}, "overwrite_not_allowed"),
    ]:
        server = remote()

        answer = add(f"{server.origin}/x", status=403, token=make_token(*roles, **more), **request_more)

        assert reason in answer.json["status"]
        assert server.requests == [], roles


def test_a_token_for_one_upload_outlives_a_fetch_that_failed(add, make_token, remote):
    once = make_token(Role.UPLOAD_ALL, Role.UPLOAD_ONCE)
    server = remote({"/gone": reply("404 Not Found")})
    add(f"{server.origin}/gone", status=400, token=once)

    add(f"{server.origin}/x", status=200, token=once)

    add(f"{server.origin}/y", status=403, token=once)
