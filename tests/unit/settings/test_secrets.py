"""Unset secrets: generated once with mode 0600 outside production, required in production."""

import errno
import json
import os
import stat
import threading

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.settings import load_settings, secrets

SECRETS = {"app.secret": "s3cret-of-the-app", "enc.token_phrase": "phrase-of-the-tokens"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "var" / "secrets.json"


def develop(path, **more):
    settings = load_settings({"app.env": "dev", "app.secrets_file": str(path)} | more, {})
    return settings.app_secret.get_secret_value(), settings.enc_token_phrase.get_secret_value()


def test_production_demands_each_secret_by_both_names():
    for missing in SECRETS:
        ini = {name: value for name, value in SECRETS.items() if name != missing}
        variable = {"app.secret": "APP_SECRET", "enc.token_phrase": "ENC_TOKEN_PHRASE"}[missing]

        with pytest.raises(ConfigurationError) as caught:
            load_settings(ini, {"APP_ENV": "prod"})

        assert f"{missing} ({variable})" in str(caught.value)


def test_the_default_is_production_and_its_message_shows_no_other_secret():
    with pytest.raises(ConfigurationError, match="ENC_TOKEN_PHRASE") as caught:
        load_settings({"app.secret": "hunter2"}, {})
    assert "hunter2" not in str(caught.value)


def test_production_generates_no_secrets_even_if_a_file_is_named(path):
    with pytest.raises(ConfigurationError, match="ENC_TOKEN_PHRASE"):
        load_settings({"app.secrets_file": str(path)}, {"APP_ENV": "prod"})

    assert not path.exists()


def test_without_a_file_the_development_message_suggests_one():
    with pytest.raises(ConfigurationError, match=r"app\.secrets_file \(APP_SECRETS_FILE\)"):
        load_settings({"app.env": "dev"}, {})


def test_development_makes_its_secrets_once_for_their_owner_alone(path):
    app_secret, phrase = develop(path)
    assert (64, 64, False) == (len(app_secret), len(phrase), app_secret == phrase)
    assert (app_secret, phrase) == develop(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [path] == list(path.parent.iterdir())


def test_two_concurrent_starts_share_their_secrets(path):
    found, start = [], threading.Barrier(8)

    def run():
        start.wait()
        found.append(develop(path))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (8, 1) == (len(found), len(set(found)))


def test_a_start_that_another_one_overtakes_has_its_secrets(path, monkeypatch):
    make_folder, others = secrets._make_folder, []

    def overtaken(folder):
        monkeypatch.setattr(secrets, "_make_folder", make_folder)
        others.append(develop(path))
        make_folder(folder)

    monkeypatch.setattr(secrets, "_make_folder", overtaken)

    assert [develop(path)] == others


@pytest.fixture(params=[errno.EPERM, errno.ENOTSUP])
def no_links(request, monkeypatch):
    """A disk that knows no links, such as exFAT."""

    def link(*_, **__):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(os, "link", link)


def test_a_disk_without_links_keeps_the_secrets_too(no_links, path):
    test_two_concurrent_starts_share_their_secrets(path)


def test_a_start_that_another_one_overtakes_has_its_secrets_without_links_too(no_links, path, monkeypatch):
    test_a_start_that_another_one_overtakes_has_its_secrets(path, monkeypatch)

    assert [path] == list(path.parent.iterdir())
    assert develop(path) == develop(path)


def test_a_file_that_cannot_be_made_says_why_and_promises_no_repair(monkeypatch, path):
    def link(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", link)

    with pytest.raises(ConfigurationError) as caught:
        develop(path)

    assert "cannot be created: OSError: [Errno 5] Input/output error" in caught.value.message
    assert "voids all tokens" not in caught.value.message


def test_an_explicit_secret_overrides_the_file(path):
    _, made = develop(path)

    assert ("mine", made) == develop(path, **{"app.secret": "mine"})


def test_making_secrets_leaves_the_other_settings_as_they_are(path):
    names = ("backup.one_version_max_size", "backup.collection_max_size", "backup.max_versions")
    more = dict.fromkeys(names, "1234567")
    settings = load_settings({"app.env": "dev", "app.secrets_file": str(path)} | more, {})
    assert {1_234_567} == {getattr(settings, name.replace(".", "_")) for name in names}


def test_made_secrets_do_not_show(path):
    settings = load_settings({"app.env": "dev", "app.secrets_file": str(path)}, {})

    assert settings.enc_token_phrase.get_secret_value() not in repr(settings)


def test_a_broken_file_is_neither_used_nor_replaced(path):
    path.parent.mkdir()
    for content in [
        "",
        "no json",
        "[]",
        "{}",
        "null",
        json.dumps({"app.secret": "hunter2"}),
        json.dumps({"app.secret": "hunter2", "enc.token_phrase": ""}),
        json.dumps({"app.secret": "hunter2", "enc.token_phrase": 7}),
    ]:
        path.write_text(content)

        with pytest.raises(ConfigurationError) as caught:
            develop(path)

        assert (True, True, content) == (
            "app.secrets_file (APP_SECRETS_FILE)" in str(caught.value),
            "hunter2" not in str(caught.value),
            path.read_text(),
        ), content


def test_a_file_that_cannot_be_created_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigurationError, match="APP_SECRETS_FILE"):
        develop(tmp_path / "file" / "secrets.json")
