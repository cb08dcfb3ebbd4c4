"""`fs.accel_redirect` is a path that nginx can find, and nothing else."""

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.settings import load_settings

SECRETS = {"app.secret": "app-5ecre7", "enc.token_phrase": "phrase-5ecre7"}


@pytest.mark.parametrize(
    ("text", "location"), [("/_blobs", "/_blobs"), ("/_blobs/", "/_blobs"), ("/a/b-1.c", "/a/b-1.c")]
)
def test_a_slash_at_the_end_does_not_matter(text, location):
    assert load_settings(SECRETS | {"fs.accel_redirect": text}, {}).fs_accel_redirect == location


@pytest.mark.parametrize(
    "text", ["_blobs", "/", "//", "/a//b", "/a b", "/a?b", "/a%62", "/blöbs", "/a/../b", "/.", "/a\nb"]
)
def test_what_is_no_path_keeps_the_service_from_starting(text):
    with pytest.raises(ConfigurationError, match=r"FS_ACCEL_REDIRECT.*/_blobs"):
        load_settings(SECRETS | {"fs.accel_redirect": text}, {})
