"""No token, password, signature or secret is in the log at any log level, or in an event."""

import contextlib
import hashlib
import json
import re
import socket
import sqlite3
import subprocess
import urllib.error
import urllib.request
import uuid

import pytest

from support.servers.fork_server import ScriptService
from support.servers.remote import ok, redirect, serving
from support.servers.service import BIN, ROOT

# All secrets of these tests contain words that occur nowhere else.
PHRASE, APP_SECRET, CODE = "phrase-5ecre7", "app-5ecre7", "code-5ecre7"
TEMPLATE = "$filename-hotlink-5ecre7"
PASSWORD, WRONG, USERINFO = "password-5ecre7", "wrong-5ecre7", "userinfo-5ecre7"
SECRET = "5ecre7"
SPARE = str(uuid.uuid4())


@pytest.fixture
def verbose_ini(tmp_path):
    """The development settings with every logger at DEBUG."""
    text = (ROOT / "development.ini").read_text()
    text = re.sub(r"level = \w+", "level = DEBUG", text)
    path = tmp_path / "verbose.ini"
    path.write_text(text)
    return path


class Client:
    """Sends requests to a service and remembers the tokens and signatures that it received."""

    def __init__(self, url):
        self.url = url
        self.secrets = set()

    def send(self, method, path, body=None, headers=()):
        """Send a request; return the status and the answer, parsed if it is JSON."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        request = urllib.request.Request(self.url + path, data=data, headers=dict(headers), method=method)
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=30) as answer:
                return answer.status, self._read(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, self._read(error)

    def _read(self, answer):
        raw = answer.read()
        text = f"{answer.headers.get('Location', '')} {raw.decode(errors='replace')}"
        self.secrets |= set(re.findall(r"signature=([0-9a-f]{64})", text))
        try:
            return json.loads(raw)
        except ValueError:
            return raw


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def _in_all_places(token):
    yield f"?_token={token}", {}
    for name, value in (("X-Auth-Token", token), ("token", token), ("Authorization", f"Bearer {token}")):
        yield "", {name: value}


def _drive(client, admin, remote):
    """Send every kind of request, valid and invalid; return the statuses of the answers."""
    key = {"X-Auth-Token": admin}
    statuses = []

    def send(*request):
        status, answer = client.send(*request)
        statuses.append(status)
        return answer

    wrong_tokens = [str(uuid.uuid4()), "no-uuid-5ecre7", admin + "x"]
    client.secrets |= {admin, *wrong_tokens}
    for token in (admin, *wrong_tokens):
        for query, headers in _in_all_places(token):
            send("GET", f"/version{query}", None, headers)
            send("GET", f"/nowhere/at/all{query}", None, headers)
            send("PATCH", f"/version{query}", None, headers)

    form = {"roles": ["upload.all"], "id": str(uuid.uuid4())}
    made = send("POST", "/auth/token/generate", form, key)["tokenId"]
    other = send("POST", "/auth/token/generate", {"roles": ["upload.all"], "expires": "+1 day"}, key)["tokenId"]
    client.secrets |= {made, other}
    for body in (form, {"roles": [made]}, {"roles": ["upload.all"], "expires": made}, {made: made}):
        send("POST", "/auth/token/generate", body, key)
    send("POST", "/auth/token/generate", f'{{"id": "{made}"'.encode(), key)
    for token in (made, *wrong_tokens):
        send("GET", f"/auth/token/{token}", None, key)
    send("GET", "/jobs/token/expired/clear", None, key)

    multipart = (
        f'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{PASSWORD}\r\n'
        '--x\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n\r\nmore\r\n--x--\r\n'
    ).encode()
    name = send("POST", f"/repository/file/upload?fileName=a.txt&password={PASSWORD}", b"body", key)["filename"]
    send("POST", "/repository/file/upload", multipart, key | {"Content-Type": "multipart/form-data; boundary=x"})
    send("POST", "/repository/file/upload", multipart[:60], key | {"Content-Type": "multipart/form-data; boundary=x"})
    send("POST", f"/repository/file/upload?fileName=/&password={PASSWORD * 99}", b"body", key)
    for password in (PASSWORD, WRONG, PASSWORD * 99):
        send("GET", f"/repository/file/{name}?password={password}")
        send("GET", f"/repository/file/{name}", None, {"X-File-Password": password})
        send("GET", f"/repository?password={password}", None, key)
    send("GET", f"/repository/file/{name}?signature={WRONG}&expires=99999999999")
    send("GET", f"/stream/{WRONG}/99999999999/{name}?password={WRONG}")
    send("GET", f"/health?code={CODE}")
    send("GET", f"/health?code={WRONG}")

    for url in (
        remote.origin.replace("://", f"://user:{USERINFO}@") + f"/x?_token={made}&password={PASSWORD}",
        f"{remote.origin}/redirect?password={PASSWORD}",
        f"{remote.origin}/odd?password={PASSWORD}",
        f"http://user:{USERINFO}@127.0.0.1:1/{made}",
        f"http://user:{USERINFO}@[::1/{made}",
        f"ftp://user:{USERINFO}@127.0.0.2/",
    ):
        send("POST", "/repository/file/add-by-url", {"fileUrl": url, "password": PASSWORD}, key)

    form = {"filename": "db.sql", "password": PASSWORD}
    collection = send("POST", "/repository/collection", form, key)["collection"]["id"]
    send("PUT", "/repository/collection", {"collection": collection, "password": WRONG + PASSWORD}, key)
    send("PUT", "/repository/collection", {"collection": collection, "password": PASSWORD * 99}, key)
    send("POST", f"/repository/collection/{collection}/token", {"token": made}, key)
    send("POST", f"/repository/collection/{collection}/token", {"token": wrong_tokens[0]}, key)
    send("GET", f"/repository/collection?allowedTokens[]={made}", None, key)
    send("POST", f"/repository/collection/{collection}/backup?_token={admin}", b"SELECT 1;")
    send("GET", f"/repository/collection/{collection}/backup", None, key)
    for query in (f"?password={PASSWORD}", f"?password={WRONG}", f"?password={PASSWORD}&redirect=false"):
        send("GET", f"/repository/collection/{collection}/backup/latest{query}", None, key)
        send("GET", f"/repository/collection/{collection}/backup/latest{query}&_token={admin}")
    send("DELETE", f"/repository/collection/{collection}/token/{made}", None, key)
    for token in (made, other, *wrong_tokens):
        send("DELETE", f"/auth/token/{token}", None, key)
    send("DELETE", f"/repository/file/{name}?password={WRONG}", None, key)
    return statuses


def _break_off(service, admin):
    """Send incomplete requests."""
    host, _, port = service.address.partition(":")
    for head in (
        (
            f"POST /repository/file/upload?fileName=c.txt&_token={admin} HTTP/1.1\r\nHost: x\r\nContent-Length: "
            "99\r\n\r\nbo"
        ),
        f"GET /version?_token={admin} HTTP/1.1\r\nX-Auth-Token: {admin}\r\nBad header {admin}\r\n\r\n",
        f"GET /version?_token={admin}\r\n\r\n",
    ):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(head.encode())


def _leaks(text, secrets):
    return sorted({secret for secret in (*secrets, SECRET) if secret.lower() in text.lower()})


@pytest.fixture
def service(tmp_path, verbose_ini, fork_server):
    folder = tmp_path / "service"
    folder.mkdir()
    settings = {
        "APP_SECRET": APP_SECRET,
        "ENC_TOKEN_PHRASE": PHRASE,
        "HEALTH_CHECK_CODE": CODE,
        "ANTI_HOTLINK_PROTECTION_ENABLED": "true",
        "ANTI_HOTLINK_SECRET_METHOD": TEMPLATE,
        "ADD_BY_URL_ALLOWED_NETWORKS": "127.0.0.2",
        "EVENTS_DOWNLOADS": "true",
    }
    service = ScriptService(folder, fork_server, settings, ini=verbose_ini)
    service.start()
    yield service
    service.stop()


def _drive_what_is_broken(client, service):
    """Delete the bytes, then the tables, and request both; return the statuses."""
    key = {"token": service.admin}
    query = f"password={PASSWORD}&_token={service.admin}"
    name = client.send("POST", f"/repository/file/upload?fileName=y&{query}", b"bytes")[1]["filename"]
    for path in service.storage.rglob(f"{hashlib.sha256(b'bytes').hexdigest()}*"):
        path.unlink()  # only these: without its mark, the storage would not be read at all
    statuses = [client.send("GET", f"/repository/file/{name}?{query}")[0]]
    for table in ("tag", "object", "file", "token"):
        with contextlib.closing(sqlite3.connect(service.folder / "frepo.db")) as database:
            database.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        statuses += [
            client.send("POST", f"/repository/file/upload?fileName=z&tags=a&{query}", b"z")[0],
            client.send("GET", f"/repository/file/{name}?{query}")[0],
            client.send("GET", f"/auth/token/{service.admin}?{query}")[0],
            client.send("POST", "/auth/token/generate", {"roles": ["upload.all"], "id": SPARE}, key)[0],
        ]
    return statuses


def _events(service):
    """Return the kinds of all events, and all their columns as one text."""
    with contextlib.closing(sqlite3.connect(service.folder / "frepo.db")) as database:
        kinds = {kind for (kind,) in database.execute("SELECT DISTINCT kind FROM event")}
        return kinds, "\n".join(str(row) for row in database.execute("SELECT * FROM event"))


def test_no_secret_is_ever_in_the_log_or_in_an_event(service):
    odd = ok(b"x", f"X-Bad {PASSWORD}")
    client = Client(service.url)
    client.secrets.add(SPARE)

    with serving({"/redirect": redirect(f"/x?password={PASSWORD}"), "/odd": odd}) as remote:
        statuses = _drive(client, service.admin, remote)
    _break_off(service, service.admin)
    statuses += _drive_what_is_broken(client, service)
    service.stop()

    log = service.log.read_text()
    assert {200, 202, 302, 400, 403, 404, 405, 500, 503} <= set(statuses)
    assert len(client.secrets) > 8
    assert "DEBUG" in log
    assert _leaks(log, client.secrets) == []
    kinds, events = _events(service)
    assert {"collection.edited", "file.downloaded", "token.created", "token.revoked", "version.added"} <= kinds
    assert _leaks(events, [*client.secrets, "argon2"]) == []


def test_the_console_prints_only_the_requested_secret(tmp_path, verbose_ini):
    admin, given = str(uuid.uuid4()), str(uuid.uuid4())
    environment = {
        "PATH": "/usr/bin:/bin",
        "APP_SECRET": APP_SECRET,
        "ENC_TOKEN_PHRASE": PHRASE,
        "DATABASE_URL": f"sqlite:///{tmp_path}/frepo.db",
        "FS_LOCAL_DIRECTORY": str(tmp_path / "storage"),
        "SECURITY_ADMIN_TOKEN": admin,
        "POST_INSTALL_CMD": f"backup:create-collection -f a.sql -p {PASSWORD}; auth:create-token --roles x --id "
        f"{given}",
    }
    told = ""
    for command in (
        ["install"],
        ["auth:create-token", "--roles", "upload.all", "--id", given],
        ["auth:create-token", "--roles", "upload.all", "--id", f"{given}x"],
        ["backup:create-collection", "-f", "a/b", "-p", PASSWORD],
        ["auth:generate-admin-token"],
    ):
        run = [str(BIN / "frepo"), "--ini", str(verbose_ini), "-vv", "--debug", *command]
        done = subprocess.run(run, check=False, env=environment, capture_output=True, text=True)
        told += done.stderr + (done.stdout if command == ["install"] else "")

    assert "Traceback" in told
    assert _leaks(told, [admin, given]) == []
