"""A protected URL is checked at each request, also if its route begins like that of a public download."""

import hashlib
from types import SimpleNamespace

import pytest

from frepo_core.services.access import protected_urls

ROUTE = "/public/download/{accessToken}/{expirationTime}/{fileId}"


@pytest.fixture
def protected(with_settings):
    return with_settings(url=ROUTE)


def path(expires, file, header="HELLO"):
    token = hashlib.md5(f"{expires}{header} MY-AWESOME-SUFFIX".encode()).hexdigest()
    return f"/public/download/{token}/{expires}/{file}"


def test_an_access_token_that_expires_meanwhile_is_refused(protected, file, monkeypatch):
    url = path(4_000_000_000, file)
    first = protected.get(url, headers={"Test-Header": "HELLO"}).body
    monkeypatch.setattr(protected_urls, "time", SimpleNamespace(time=lambda: 4_000_000_001))

    assert b"content" == first
    protected.get(url, headers={"Test-Header": "HELLO"}, status=403)


def test_a_header_that_the_template_names_is_checked_each_time(protected, file):
    url = path(4_102_444_800, file)
    protected.get(url, headers={"Test-Header": "HELLO"})

    protected.get(url, headers={"Test-Header": "OTHER"}, status=403)
