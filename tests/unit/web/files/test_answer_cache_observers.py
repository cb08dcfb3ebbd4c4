"""A request observer is told the same about an answer from memory as about the one before."""

from dataclasses import replace

import pytest
from webtest import TestApp

from frepo_core.web import make_app
from support.client import Client, with_settings


@pytest.fixture
def seen():
    return []


@pytest.fixture
def anonymous(services, seen):
    def observe(method, path, status, seconds, received, sent, error):
        seen.append((method, path, status, received, sent, error))

    return Client(TestApp(make_app(replace(services, request_observers=[observe]))))


@pytest.fixture
def name(uploader):
    return uploader.upload(b"content").json["filename"]


def ask_twice(anonymous, name, seen, headers, warm=()):
    """Ask with a cold cache, then with a warm one."""
    seen.clear()
    anonymous.download(name, headers=headers)
    anonymous.download(name, headers=warm)
    anonymous.download(name, headers=headers)
    return seen[0], seen[2]


def test_the_path_the_status_and_the_sizes_are_the_same(anonymous, name, seen):
    for headers in [{}, {"If-None-Match": "*"}, {"Host": "not a host"}]:
        cold, warm = ask_twice(anonymous, name, seen, headers)

        assert cold == warm, headers


@with_settings(trusted_proxies="127.0.0.1")
@pytest.mark.parametrize("headers", [{"X-Forwarded-Host": "a b"}, {"X-Forwarded-Proto": "ftp"}])
def test_what_a_proxy_forwards_is_checked(anonymous, name, seen, headers):
    for each in (headers, {}, headers):
        anonymous.download(name, headers=each, environ={"REMOTE_ADDR": "127.0.0.1"})

    assert [400, 200, 400] == [answer[2] for answer in seen]
    assert seen[0] == seen[2]
