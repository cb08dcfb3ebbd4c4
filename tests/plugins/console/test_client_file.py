"""The file of the client, as the console serves it."""

import hashlib
import subprocess
import sys

from frepo_client.zipapp import build


def test_the_client_is_the_file_that_make_client_writes(app, tmp_path):
    answer = app.get("/client/frepo-client.pyz")

    assert (200, "application/octet-stream", build()) == (answer.status_int, answer.content_type, answer.body)
    path = tmp_path / "frepo-client.pyz"
    path.write_bytes(answer.body)
    shown = subprocess.run([sys.executable, path, "--version"], capture_output=True, text=True, check=True).stdout
    assert f"frepo-client {answer.headers['Frepo-Client-Version']}\n" == shown


def test_its_digest_is_next_to_it(app):
    digest = hashlib.sha256(build()).hexdigest()

    answer = app.get("/client/frepo-client.pyz.sha256")

    assert f"{digest}  frepo-client.pyz\n" == answer.text


def test_it_is_not_sent_again_to_who_has_it(app):
    tag = app.get("/client/frepo-client.pyz").headers["ETag"]

    assert 304 == app.get("/client/frepo-client.pyz", headers={"If-None-Match": tag}).status_int


def test_whether_a_token_is_valid_does_not_matter(app):
    """A host that is not enrolled yet has no token, and one whose token has ended needs the client, too."""
    assert 200 == app.get("/client/frepo-client.pyz", headers={"X-Auth-Token": "x"}).status_int
