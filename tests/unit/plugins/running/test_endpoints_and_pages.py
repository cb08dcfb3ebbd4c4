"""What the service does with the endpoints and the pages of plug-ins."""

from dataclasses import replace
from uuid import uuid4

import pytest
from webtest import TestApp

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Pages
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.web import Answer, Endpoint, Reply, make_app

ORIGIN = "the plug-in 'acme' of the package acme-paint 1.2.3"


def fail(*_):
    raise RuntimeError("no paint\nleft")


def leave(*_):
    raise SystemExit(3)


class Word(Reply):
    word: str


def endpoint(view, **more):
    return Endpoint(
        **{"name": "say_acme", "method": "GET", "path": "/acme/say", "summary": "Say", "permission": None}
        | {"view": view, "answers": {200: Word}}
        | more
    )


class TestEndpoints:
    @pytest.mark.parametrize(
        "view",
        [
            lambda request: Answer(body=Word(word="hello")),
            lambda request, context: Answer(
                body=Word(word=context.log.name.replace("frepo_core.plugins.acme", "hello"))
            ),
        ],
    )
    def test_a_view_gets_the_context_if_it_takes_it(self, assembled, view):
        app = TestApp(make_app(assembled({"endpoints": lambda context: [endpoint(view)]})))

        assert {"word": "hello"} == app.get("/acme/say").json

    def test_the_hook_gets_the_context_if_it_takes_it(self, assembled):
        def endpoints(context):
            return [endpoint(lambda request: Answer(body=Word(word=context.log.name)))]

        app = TestApp(make_app(assembled({"endpoints": endpoints})))

        assert {"word": "frepo_core.plugins.acme"} == app.get("/acme/say").json

    def test_a_public_endpoint_with_a_collection_in_its_path_needs_no_token(self, assembled):
        def view(request):
            return Answer(body=Word(word=request.collection.filename))

        services = assembled({"endpoints": lambda context: [endpoint(view, path="/acme/{collection}/say")]})
        made = services.collections.create(CollectionChange(limits={}, filename="dump.sql"), by=None)
        app = TestApp(make_app(services))

        assert {"word": "dump.sql"} == app.get(f"/acme/{made.id}/say").json
        assert 400 == app.get(f"/acme/{made.id[:-4]}0000/say", status="*").status_int
        assert 403 == app.get(f"/acme/{made.id}/say", headers={"X-Auth-Token": str(uuid4())}, status="*").status_int

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            ({"word": "hello"}, "answered {'word': 'hello'}, which is neither a frepo_core.web.Answer nor a Response"),
            (None, "answered None, which is neither a frepo_core.web.Answer nor a Response"),
            (Answer(body={"word": "hello"}), "answered an Answer with the body {'word': 'hello'}, which is no Reply"),
        ],
    )
    def test_an_answer_of_a_wrong_type_is_named_with_what_was_expected(self, assembled, answer, told, caplog):
        app = TestApp(make_app(assembled({"endpoints": lambda context: [endpoint(lambda request: answer)]})))

        assert 500 == app.get("/acme/say", status="*").status_int
        assert f"the endpoint 'say_acme' ({ORIGIN}) {told}" in caplog.text

    @pytest.mark.parametrize("view", [fail, leave])
    def test_a_view_that_fails_is_500_and_the_log_names_the_package(self, assembled, view, caplog):
        app = TestApp(make_app(assembled({"endpoints": lambda context: [endpoint(view)]})))

        answer = app.get("/acme/say", status=500)

        assert answer.json["error_id"] in caplog.text
        assert f"the endpoint 'say_acme' ({ORIGIN}) failed" in caplog.text


class TestPages:
    @pytest.fixture
    def folder(self, tmp_path):
        folder = tmp_path / "pages"
        (folder / "deep").mkdir(parents=True)
        (folder / "index.html").write_text("<h1>Paint</h1>")
        (folder / "deep/app.js").write_text("paint()")
        (tmp_path / "secret.txt").write_text("5ecre7")
        return folder

    @pytest.fixture
    def app(self, assembled, folder):
        pages = Pages(path="paint", folder=folder, title="Paint")
        return TestApp(make_app(assembled({"pages": lambda: [pages]})))

    @pytest.mark.parametrize(
        ("path", "kind", "body"),
        [("/paint/", "text/html", "<h1>Paint</h1>"), ("/paint/deep/app.js", "javascript", "paint()")],
    )
    def test_a_file_is_served_with_a_strict_policy(self, app, path, kind, body):
        answer = app.get(path)

        assert (body, True) == (answer.text, kind in answer.content_type)
        policy = answer.headers["Content-Security-Policy"]
        assert [] == [word for word in ("unsafe", "*", "http:") if word in policy]
        assert policy.startswith("default-src 'self'; ")
        assert "nosniff" == answer.headers["X-Content-Type-Options"]

    def test_the_path_without_a_slash_is_redirected(self, app):
        assert app.get("/paint", status=301).location.endswith("/paint/")

    def test_a_file_that_did_not_change_is_not_sent_again(self, app):
        tag = app.get("/paint/").headers["ETag"]

        assert 304 == app.get("/paint/", headers={"If-None-Match": tag}, expect_errors=True).status_int

    def test_nothing_outside_of_the_folder_is_served(self, app):
        for path in ["nothing.js", "../secret.txt", "%2e%2e/secret.txt", "deep/../../secret.txt"]:
            answer = app.get(f"/paint/{path}", expect_errors=True)

            assert (True, False) == (answer.status_int in {400, 404}, "5ecre7" in answer.text), path

    def test_nothing_can_be_sent_to_a_page(self, app):
        assert 405 == app.post("/paint/", expect_errors=True).status_int

    @pytest.mark.parametrize("path", ["health", "repository", "api"])
    def test_a_path_of_the_service_cannot_be_taken(self, assembled, folder, path):
        pages = Pages(path=path, folder=folder, title="Paint")
        services = assembled({"pages": lambda: [pages]})

        with pytest.raises(ConfigurationError, match=f"{ORIGIN} declares pages at /{path}/"):
            make_app(services)

    def test_two_plugins_cannot_take_one_path(self, assembled, folder):
        pages = {"pages": lambda: [Pages(path="paint", folder=folder, title="Paint")]}
        services = assembled(pages, pages)

        with pytest.raises(ConfigurationError, match=f"'acme1'.*belongs to {ORIGIN}"):
            make_app(services)

    def test_plugins_can_list_the_pages(self, assembled, folder):
        pages = Pages(path="paint", folder=folder, title="Paint")
        services = assembled({"pages": lambda: [pages]})

        assert pages in services.contexts["acme"].service.pages()

    def test_a_path_that_is_not_one_part_of_a_url_is_refused(self, folder):
        for path, told in [("Paint", "path is 'Paint'"), ("a/b", "path is"), ("", "path is ''")]:
            with pytest.raises(ValueError, match=told):
                Pages(path=path, folder=folder, title="Paint")

    def test_a_folder_that_does_not_exist_is_refused(self, folder):
        with pytest.raises(ValueError, match="does not exist"):
            replace(Pages(path="paint", folder=folder, title="Paint"), folder=folder / "nowhere")
