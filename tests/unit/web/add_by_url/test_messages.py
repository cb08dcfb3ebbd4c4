"""add-by-url reports in `message`, and in the log, why a URL could not be fetched."""

from support.remote_answers import REFUSED, REMOTE_STATUS
from support.servers.remote import redirect, reply


def test_a_refused_url_is_explained(add, caplog):
    for url, reason in [
        ("ftp://example.org/a", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("http://nowhere.example/a?key=word-5ecre7", "cannot be resolved"),
        ("http://user:word-5ecre7@127.0.0.1/a", "address that is not public"),
        ("http://127.0.0.2:1/word-5ecre7", "does not accept a connection"),
        ("http://[/", "not valid"),
    ]:
        caplog.clear()
        answer = add(url, status=400).json

        assert (answer["error_code"], answer["status"]) == (REFUSED, "The URL may not be fetched, or cannot be reached")
        assert reason in answer["message"]
        assert [reason in record.message for record in caplog.records if "add-by-url" in record.message] == [True]
        assert "5ecre7" not in caplog.text + str(answer), url


def test_a_redirect_is_explained_without_its_target(add, remote):
    server = remote({"/x": redirect("http://127.0.0.1/hidden")})

    answer = add(f"{server.origin}/x", status=400)

    assert "address that is not public" in answer.json["message"]
    assert "hidden" not in answer.text


def test_an_error_of_the_remote_server_is_explained_by_its_status(add, remote, caplog):
    server = remote({"/x": reply("404 Not Found", b"a word-5ecre7")})

    answer = add(f"{server.origin}/x", status=400)

    assert (answer.json["error_code"], "404" in answer.json["message"]) == (REMOTE_STATUS, True)
    assert "5ecre7" not in answer.text + caplog.text
    assert "with status 404" in caplog.text
