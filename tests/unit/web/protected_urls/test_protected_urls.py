import hashlib

import pytest

LATER = 4_102_444_800  # in the year 2100


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def test_an_access_token_allows_the_download_and_head(app, file):
    path = f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/{file}"
    answer = app.get(path, headers={"Test-Header": "HELLO"})
    assert (answer.body, answer.headers["Repr-Digest"][:10]) == (b"content", "sha-256=:7")

    path = f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/{file}"
    answer = app.head(path, headers={"Test-Header": "HELLO"})
    assert (answer.status_code, answer.body) == (200, b"")

    path = f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/unknown"
    app.get(path, headers={"Test-Header": "HELLO"}, status=404)
    app.get(f"/stream/x/{LATER}/unknown", status=403)
    path = f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/{file}"
    app.get(path, headers={"Test-Header": "HELLO", "X-Auth-Token": "bad"}, status=403)


def test_an_invalid_or_expired_access_token_is_refused(app, file):
    for token, expiration in [
        (md5(f"{LATER}HELLO MY-AWESOME-SUFFIX").upper(), LATER),
        (md5(f"{LATER} MY-AWESOME-SUFFIX"), LATER),
        (md5(f"{LATER}HELLO MY-AWESOME-SUFFIX"), LATER + 1),
        (md5(f"{LATER}HELLO MY-AWESOME-SUFFIX")[:-1], LATER),
        ("%C5%BC", LATER),
        ("9bd4809201519ec0999f8279cf2f2cd6", 123),
        (md5("neverHELLO MY-AWESOME-SUFFIX"), "never"),
        (md5("-1HELLO MY-AWESOME-SUFFIX"), "-1"),
        (md5("１HELLO MY-AWESOME-SUFFIX"), "%EF%BC%91"),
        (md5(f"{LATER}.5HELLO MY-AWESOME-SUFFIX"), f"{LATER}.5"),
        (md5(f"{'9' * 5000}HELLO MY-AWESOME-SUFFIX"), "9" * 5000),
    ]:
        answer = app.get(f"/stream/{token}/{expiration}/{file}", headers={"Test-Header": "HELLO"}, status=403)

        assert (answer.json["status"], answer.json["error_code"]) == ("No access", 403), token


def test_filled_in_values_are_not_expanded_again(with_settings, file):
    app = with_settings(secret_method="$query_a|$query_b|secret", url="/s/{accessToken}/{fileId}")

    app.get(f"/s/{md5('$query_b|x|secret')}/{file}", {"a": "$query_b", "b": "x"})
    app.get(f"/s/{md5('x|x|secret')}/{file}", {"a": "$query_b", "b": "x"}, status=403)


@pytest.mark.costly
@pytest.mark.slow
def test_every_kind_of_variable_is_filled_in(with_settings, file):
    for template, value in [
        ("$expiration_time", str(LATER)),
        ("$http_x_expiration_time", str(LATER)),
        ("$filename", None),
        ("$http_user_agent", "tests"),
        ("$http_x_two_words", "two words"),
        ("$http_absent", ""),
        ("$query_a", "1"),
        ("$query_absent", ""),
        ("$server_request_method", "GET"),
        ("$server_server_name", "localhost"),
        ("$http_remote_addr", "127.0.0.1"),
        ("$http_x_remote_addr", "127.0.0.1"),
        ("$server_remote_addr", "127.0.0.1"),
        ("$", "$"),
        ("100$ $1", "100$ $1"),
    ]:
        app = with_settings(secret_method=f"{template}-secret")
        token = md5(f"{file if value is None else value}-secret")
        headers = {"User-Agent": "tests", "X-Two-Words": "two words", "X-Remote-Addr": "8.8.8.8"}

        answer = app.get(
            f"/stream/{token}/{LATER}/{file}", {"a": "1"}, headers=headers, extra_environ={"REMOTE_ADDR": "127.0.0.1"}
        )

        assert answer.body == b"content", template


def test_the_client_address_is_the_one_forwarded_by_a_trusted_proxy(ini, with_settings, file):
    ini["trusted_proxies"] = "127.0.0.1"
    app = with_settings(secret_method="$server_remote_addr", url="/s/{accessToken}/{fileId}")
    behind_proxy = {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}

    assert app.get(f"/s/{md5('198.51.100.7')}/{file}", extra_environ=behind_proxy).body == b"content"


def test_an_alias_works(app, ini, file):
    with open(ini["ids_mapping.file"], "w") as mapping:
        mapping.write(f"nice: {file}\n")

    answer = app.get(f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/nice", headers={"Test-Header": "HELLO"})

    assert answer.body == b"content"


def test_a_protected_file_still_requires_its_password(app, admin):
    name = app.post(f"/repository/file/upload?fileName=b.txt&password=word-5ecre7&_token={admin}", b"other").json[
        "filename"
    ]
    path = f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/{name}"

    app.get(path, headers={"Test-Header": "HELLO"}, status=403)
    answer = app.get(f"{path}?password=word-5ecre7", headers={"Test-Header": "HELLO"})

    assert (answer.body, answer.headers["Cache-Control"]) == (b"other", "private, no-store")


def test_a_password_in_a_header_is_read_as_utf_8(app, admin):
    query = f"fileName=b.txt&password=p%C3%A4ss-5ecre7&_token={admin}"
    name = app.post(f"/repository/file/upload?{query}", b"other").json["filename"]
    path = f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/{name}"

    answer = app.get(
        path, headers={"Test-Header": "HELLO", "X-File-Password": "päss-5ecre7".encode().decode("latin-1")}
    )

    assert answer.body == b"other"


def test_a_version_cannot_be_downloaded(app, admin):
    form = {"filename": "db.sql"}
    collection = app.post_json(f"/repository/collection?_token={admin}", form, status=202).json["collection"]["id"]
    added = app.post(f"/repository/collection/{collection}/backup?_token={admin}", b"SELECT 1;")
    path = f"/stream/{md5(f'{LATER}HELLO MY-AWESOME-SUFFIX')}/{LATER}/{added.json['version']['file']['filename']}"

    app.get(path, headers={"Test-Header": "HELLO"}, status=403)
