"""The settings of protected URLs: hashes, templates, and the restriction of regular URLs."""

import hashlib
import hmac
import re

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import ConfigurationError
from frepo_core.services.access.protected_urls import ProtectedUrls
from frepo_core.settings import load_settings
from support.paths import ROOT

LATER = 4_102_444_800  # in the year 2100


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def test_a_header_in_utf_8_is_hashed_as_it_was_sent(with_settings, file):
    app = with_settings(secret_method="$http_x_name", url="/s/{accessToken}/{fileId}")

    answer = app.get(f"/s/{md5('żółw')}/{file}", extra_environ={"HTTP_X_NAME": "żółw".encode().decode("latin-1")})

    assert answer.body == b"content"


@pytest.mark.costly
def test_other_hashes_can_be_chosen(with_settings, file):
    for crypto in ["sha1", "sha256", "SHA512", "sha3_256", "blake2b"]:
        app = with_settings(crypto=crypto, secret_method="secret")

        answer = app.get(f"/stream/{hashlib.new(crypto.lower(), b'secret').hexdigest()}/{LATER}/{file}")

        assert answer.body == b"content", crypto


def test_a_keyed_hash_uses_its_own_key(ini, with_settings, file):
    app = with_settings(crypto="hmac-sha256", secret_method="$filename", key="key-5ecre7")

    def get(key, status):
        token = hmac.new(key.encode(), file.encode(), "sha256").hexdigest()
        return app.get(f"/stream/{token}/{LATER}/{file}", status=status)

    assert get("key-5ecre7", 200).body == b"content"
    assert get(ini["app.secret"], 403).json["status"] == "No access"


def test_a_keyed_hash_without_its_own_key_stops_the_start(ini):
    for key, complaint in [
        ("", "app.secret is no longer used"),
        ("app-5ecre7", "must differ from app.secret"),
        ("phrase-5ecre7", "must differ from app.secret"),
    ]:
        for crypto in ["hmac-sha256", "HMAC-SHA512"]:
            more = {"anti_hotlink.crypto": crypto, "anti_hotlink.key": key}

            with pytest.raises(ConfigurationError, match=complaint) as refusal:
                ProtectedUrls(load_settings(ini | more, {}))

            assert "ANTI_HOTLINK_KEY" in str(refusal.value), key
            assert "5ecre7" not in str(refusal.value), key


def examples():
    """Return the settings, and the program that makes a path, of each example in the documentation."""
    text = (ROOT / "docs/settings.md").read_text().partition("\n## Anti-hotlink\n")[2]
    blocks = re.findall(r"```(\w*)\n(.*?)```", text.partition("\n## ")[0], re.DOTALL)
    settings = [block for kind, block in blocks if not kind]
    return list(zip(settings, [block for kind, block in blocks if kind == "python"], strict=True))


def test_the_examples_of_the_documentation_work(ini, file, with_settings):
    for lines, program in examples():
        values = dict(line.split("=", 1) for line in lines.splitlines())
        names = ("crypto", "key", "secret_method")
        app = with_settings(**{name: values.get(f"ANTI_HOTLINK_{name.upper()}", "") for name in names})
        documented, made = {}, {}

        exec(program, documented)
        exec(program.replace("5f0c1d2e3acat.png", file), made)

        assert app.get(made["path"]).body == b"content", lines
        assert f"# {documented['path']}\n" in program


def test_the_documentation_has_an_example_of_both():
    assert [("hmac-sha256" in settings, "md5(" in program) for settings, program in examples()] == [
        (True, False),
        (False, True),
    ]


def test_the_error_of_an_invalid_template_does_not_show_it(ini):
    more = {"anti_hotlink.secret_method": "$expiration_time|pa$5ecre7 $word7hush"}

    with pytest.raises(ConfigurationError) as refusal:
        ProtectedUrls(load_settings(ini | more, {}))

    assert "word7hush" not in str(refusal.value)
    assert "characters 28 to 37" in str(refusal.value)


def test_invalid_settings_stop_the_start(ini):
    for changes in [
        {"crypto": "rot13"},
        {"crypto": "shake_128"},
        {"crypto": "hmac-"},
        {"crypto": "hmac-rot13"},
        {"url": "stream/{accessToken}/{fileId}"},
        {"url": "/stream/{accessToken}"},
        {"url": "/stream/{fileId}"},
        {"url": "/stream/{accessToken}-{fileId}"},
        {"url": "/stream/{accessToken}/{fileId}/{fileId}"},
        {"url": "/stream/{accessToken}/{fileId}/{other}"},
        {"url": "/stream/{accessToken}/{fileId}/x{expirationTime}"},
        {"url": "/stream/{accessToken}/{fileId}/{expirationTime:[0-9]+}"},
        {"url": "/stream/{accessToken}/{fileId}/*rest"},
        {"url": "/stream/{accessToken}/{fileId}/:old"},
        {"url": "/stream/{accessToken}/{fileId}?x=1"},
        {"url": "/stream/{accessToken}/{fileId}/}{"},
        {"secret_method": "$expiration_tim|hush"},
        {"secret_method": "$filename$http_|hush"},
        {"secret_method": "$expiration_time|pa$word"},
    ]:
        more = {f"anti_hotlink.{name}": value for name, value in changes.items()}

        with pytest.raises(ConfigurationError, match="ANTI_HOTLINK_"):
            ProtectedUrls(load_settings(ini | more, {}))


def test_without_template_or_protection_the_route_does_not_exist(with_settings, file):
    for changes in [{"secret_method": ""}, {"protection_enabled": "false"}]:
        app = with_settings(**changes)

        answer = app.get(f"/stream/{md5('')}/{LATER}/{file}", status=404)

        assert answer.json["status"] == "There is nothing at this path", changes


def test_regular_urls_can_be_restricted_to_valid_tokens(with_settings, make_token, file):
    for prefix in ["/repository/file", "/public/download"]:
        app = with_settings(restrict_regular_urls="true")

        app.get(f"{prefix}/{file}", status=403)
        app.get(f"{prefix}/{file}?signature=x&expires=99999999999", status=403)
        answer = app.get(f"{prefix}/{file}", headers={"token": make_token(Role.VIEW_LISTING)})

        assert answer.body == b"content", prefix


def test_restricting_regular_urls_does_not_affect_the_protected_one(with_settings, file):
    app = with_settings(restrict_regular_urls="true", secret_method="secret")

    assert app.get(f"/stream/{md5('secret')}/{LATER}/{file}").body == b"content"


def test_restricted_downloads_are_not_stored_in_shared_caches(with_settings, file, make_token):
    for how in ["token", "protected"]:
        app = with_settings(restrict_regular_urls="true", secret_method="secret")
        paths = {"token": f"/repository/file/{file}", "protected": f"/stream/{md5('secret')}/{LATER}/{file}"}
        answer = app.get(paths[how], headers={"token": make_token(Role.VIEW_LISTING)} if how == "token" else {})

        assert answer.headers["Cache-Control"] == "private, no-store", how


def test_the_restriction_alone_does_nothing(with_settings, file):
    app = with_settings(restrict_regular_urls="true", protection_enabled="false")

    assert app.get(f"/repository/file/{file}").body == b"content"
