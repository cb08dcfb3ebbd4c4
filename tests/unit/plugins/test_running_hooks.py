"""What the service does with health checks, lifecycles, storages, endpoints and pages of plug-ins."""

import shutil
import threading
from dataclasses import replace
from unittest.mock import Mock

import pytest
from webtest import TestApp

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import HealthCheck, Lifecycle, Pages, PluginRegistry, StorageSettings, StorageSpec
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.services.container import assemble
from frepo_core.testing import MemoryStorage
from frepo_core.web import Answer, Endpoint, Reply, make_app

CODE = "a-code"
OWN = {"storage": True, "database": True, "worker": True, "jobs": True}
ORIGIN = "the plug-in 'acme' of the package acme-paint 1.2.3"


@pytest.fixture
def ini(ini):
    return ini | {"health_check.code": CODE}


@pytest.fixture
def assembled(ini, migrated, tmp_path):
    """Assemble the services with one more plug-in, or with several."""
    made = []

    def assembled(*offers, ini=ini):
        (tmp_path / "database").mkdir(exist_ok=True)
        database = shutil.copy(migrated, tmp_path / "database")
        found = [
            FoundPlugin(name=f"acme{number or ''}", distribution="acme-paint", version="1.2.3", **offer)
            for number, offer in enumerate(offers)
        ]
        registry = PluginRegistry([*PluginRegistry.from_entry_points().found, *found])
        made.append(assemble(ini | {"database.url": f"sqlite:///{database}"}, {}, registry))
        return made[-1]

    yield assembled
    for services in made:
        services.database.engine.dispose()


def health(services):
    return TestApp(make_app(services)).get("/health", params={"code": CODE}, expect_errors=True)


def fail(*_):
    raise RuntimeError("no paint\nleft")


def leave(*_):
    raise SystemExit(3)


class TestHealth:
    def test_a_check_that_works_is_true(self, assembled):
        answer = health(assembled({"health_checks": [HealthCheck(name="paint", run=lambda: None)]}))

        assert 200 == answer.status_int
        assert OWN | {"paint": True} == answer.json["status"]

    def test_without_a_plugin_the_answer_has_the_checks_of_the_service(self, assembled):
        answer = health(assembled())

        assert OWN == answer.json["status"]
        assert ["global_status=True", *(f"{name}=True" for name in OWN)] == answer.json["ident"]

    @pytest.mark.parametrize(("run", "kind"), [(fail, "RuntimeError: no paint left"), (leave, "SystemExit: 3")])
    def test_a_check_that_fails_is_false_with_its_message(self, assembled, run, kind, caplog):
        answer = health(assembled({"health_checks": [HealthCheck(name="paint", run=run)]}))

        assert (503, False, False) == (
            answer.status_int,
            answer.json["status"]["paint"],
            answer.json["global_status"],
        )
        assert [kind] == answer.json["messages"]["paint"]
        assert f"health check 'paint' of {ORIGIN} failed" in caplog.text

    def test_a_check_that_hangs_is_reported_and_started_once(self, assembled):
        release, calls = threading.Event(), []

        def hang():
            calls.append(1)
            release.wait(60)

        services = assembled({"health_checks": [HealthCheck(name="paint", run=hang, deadline=0.1)]})

        answers = [health(services), health(services)]
        release.set()

        assert [503, 503] == [answer.status_int for answer in answers]
        assert "The check hangs" in answers[1].json["messages"]["paint"][0]
        assert [1] == calls

    def test_a_check_gets_the_context_if_it_takes_it(self, assembled):
        seen = []
        services = assembled({"health_checks": [HealthCheck(name="paint", run=seen.append)]})

        health(services)

        assert [services.contexts["acme"]] == seen

    def test_a_check_with_the_name_of_one_of_ours_stops_the_start(self, assembled):
        with pytest.raises(ConfigurationError, match=f"{ORIGIN} names a health check 'storage', as frepo does"):
            assembled({"health_checks": [HealthCheck(name="storage", run=fail)]})

    @pytest.mark.parametrize("kind", [ConfigurationError, RuntimeError])
    def test_secrets_are_masked_in_the_answer_and_in_the_log(self, assembled, caplog, kind):
        def run():
            raise kind(f"no answer from https://user:hunter2@example.org with {secret}")

        services = assembled({"health_checks": [HealthCheck(name="paint", run=run)]})
        secret = services.settings.app_secret.get_secret_value()

        [message] = health(services).json["messages"]["paint"]

        assert "no answer from https://***@example.org with ***" in message
        for part in ("hunter2", secret):
            assert part not in caplog.text

    def test_secrets_of_the_storage_are_masked(self, assembled, ini):
        s3 = {f"fs.awss3v3.{name}": f"{name}-value" for name in ("bucket", "region", "key", "secret")}
        run = Mock(side_effect=RuntimeError("the signature of secret-value is wrong"))
        check = HealthCheck(name="paint", run=run)
        services = assembled({"health_checks": [check]}, ini=ini | s3 | {"fs.adapter": "awss3v3"})

        assert ("RuntimeError: the signature of *** is wrong",) == services.health.run()["paint"]

    def test_plugins_can_ask_for_the_health(self, assembled):
        services = assembled({"health_checks": [HealthCheck(name="paint", run=fail)]})

        found = services.contexts["acme"].service.health()

        assert (("RuntimeError: no paint left",), ()) == (found["paint"], found["database"])


class TestLifecycles:
    def test_they_start_in_order_and_stop_in_reverse(self, assembled):
        calls = []

        def lifecycle(name):
            return Lifecycle(
                start=lambda context: calls.append(f"start {name}"), stop=lambda context: calls.append(f"stop {name}")
            )

        services = assembled({"lifecycles": [lifecycle("one")]}, {"lifecycles": [lifecycle("two")]})
        for _ in range(2):
            services.service_time.start()
        for _ in range(2):
            services.service_time.stop()

        assert ["start one", "start two", "stop two", "stop one"] == calls

    @pytest.mark.parametrize(("start", "reason"), [(fail, "RuntimeError: no paint left"), (leave, "SystemExit: 3")])
    def test_one_that_cannot_start_stops_the_others_and_names_its_package(self, assembled, start, reason):
        calls = []
        services = assembled(
            {"lifecycles": [Lifecycle(stop=lambda context: calls.append("stopped"))]},
            {"lifecycles": [Lifecycle(start=start, stop=lambda context: calls.append("never"))]},
        )

        with pytest.raises(ConfigurationError, match=f"'acme1' of the package acme-paint.* cannot start: {reason}"):
            services.service_time.start()

        assert ["stopped"] == calls

    @pytest.mark.parametrize("stop", [fail, leave])
    def test_one_that_cannot_stop_is_logged_and_the_others_stop(self, assembled, stop, caplog):
        calls = []
        services = assembled(
            {"lifecycles": [Lifecycle(stop=lambda context: calls.append("stopped"))]},
            {"lifecycles": [Lifecycle(stop=stop)]},
        )
        services.service_time.start()

        services.service_time.stop()

        assert ["stopped"] == calls
        assert "the plug-in 'acme1' of the package acme-paint 1.2.3 did not stop" in caplog.text


class Crate(MemoryStorage):
    """Counts how often it is closed, and fails if the test wants that."""

    def __init__(self, closed, failure=None):
        super().__init__()
        self._closed = closed
        self._failure = failure

    def close(self):
        self._closed.append(self)
        if self._failure:
            raise self._failure


@pytest.mark.parametrize("failure", [None, OSError("gone"), RuntimeError("bug"), ConnectionResetError("cut")])
def test_a_storage_is_closed_at_the_end(assembled, ini, caplog, failure):
    closed = []
    spec = StorageSpec(name="crate", settings=StorageSettings, build=lambda settings: Crate(closed, failure))
    ini = {name: value for name, value in ini.items() if name != "fs.local.directory"} | {"fs.adapter": "crate"}
    services = assembled({"storages": [spec]}, ini=ini)
    services.service_time.start()

    services.service_time.stop()

    assert 1 == len(closed)
    assert (failure is not None) == (f"the storage 'crate' ({ORIGIN}) failed in close()" in caplog.text)


def test_a_storage_without_close_needs_none(assembled):
    services = assembled()
    services.service_time.start()

    services.service_time.stop()

    assert services.backends.get("local").close() is None


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

    @pytest.mark.parametrize("path", ["nothing.js", "../secret.txt", "%2e%2e/secret.txt", "deep/../../secret.txt"])
    def test_nothing_outside_of_the_folder_is_served(self, app, path):
        answer = app.get(f"/paint/{path}", expect_errors=True)

        assert (True, False) == (answer.status_int in {400, 404}, "5ecre7" in answer.text)

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

    @pytest.mark.parametrize(("path", "told"), [("Paint", "path is 'Paint'"), ("a/b", "path is"), ("", "path is ''")])
    def test_a_path_that_is_not_one_part_of_a_url_is_refused(self, folder, path, told):
        with pytest.raises(ValueError, match=told):
            Pages(path=path, folder=folder, title="Paint")

    def test_a_folder_that_does_not_exist_is_refused(self, folder):
        with pytest.raises(ValueError, match="does not exist"):
            replace(Pages(path="paint", folder=folder, title="Paint"), folder=folder / "nowhere")
