"""Values of `fs.accel_redirect` (a path), of `app.domain` (a host) and of time limits (finite)."""

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.settings import load_settings

SECRETS = {"app.secret": "app-5ecre7", "enc.token_phrase": "phrase-5ecre7", "database.url": "sqlite:///frepo.db"}


def test_a_slash_at_the_end_does_not_matter():
    for text, location in [("/_blobs", "/_blobs"), ("/_blobs/", "/_blobs"), ("/a/b-1.c", "/a/b-1.c")]:
        assert load_settings(SECRETS | {"fs.accel_redirect": text}, {}).fs_accel_redirect == location


def test_an_invalid_path_stops_the_start():
    for text in ["_blobs", "/", "//", "/a//b", "/a b", "/a?b", "/a%62", "/blöbs", "/a/../b", "/.", "/a\nb"]:
        with pytest.raises(ConfigurationError, match=r"FS_ACCEL_REDIRECT.*/_blobs"):
            load_settings(SECRETS | {"fs.accel_redirect": text}, {})
            pytest.fail(repr(text))


def test_a_domain_is_a_host_with_a_port_or_without():
    for text in ["", "files.example.org", "files.example.org:8443", "127.0.0.1:80", "[::1]:6543"]:
        assert load_settings(SECRETS | {"app.domain": text}, {}).app_domain == text


def test_an_invalid_host_stops_the_start():
    for text in ["http://files.example.org", "files.example.org/", "a b", '"a"', "a:b", "a@b"]:
        with pytest.raises(ConfigurationError, match=r"APP_DOMAIN.*host name"):
            load_settings(SECRETS | {"app.domain": text}, {})
            pytest.fail(repr(text))


def test_an_infinite_time_limit_stops_the_start():
    for name in ["http.timeout", "long_execution_time"]:
        for text in ["inf", "nan", "1e300", "0", "-1"]:
            with pytest.raises(ConfigurationError, match=name):
                load_settings(SECRETS | {name: text}, {})
                pytest.fail(repr((name, text)))
