"""A protected URL is checked at each request, also if its route begins like that of a public download."""

import hashlib
import time

import pytest

ROUTE = "/public/download/{accessToken}/{expirationTime}/{fileId}"


@pytest.fixture
def protected(with_settings):
    return with_settings(url=ROUTE)


def path(expires, file, header="HELLO"):
    token = hashlib.md5(f"{expires}{header} MY-AWESOME-SUFFIX".encode()).hexdigest()
    return f"/public/download/{token}/{expires}/{file}"


@pytest.mark.slow
def test_an_access_token_that_expires_meanwhile_is_refused(protected, file):
    expires = int(time.time()) + 2
    url = path(expires, file)
    first = protected.get(url, headers={"Test-Header": "HELLO"}).body
    time.sleep(3.1)

    assert b"content" == first
    protected.get(url, headers={"Test-Header": "HELLO"}, status=403)


def test_a_header_that_the_template_names_is_checked_each_time(protected, file):
    url = path(4_102_444_800, file)
    protected.get(url, headers={"Test-Header": "HELLO"})

    protected.get(url, headers={"Test-Header": "OTHER"}, status=403)
