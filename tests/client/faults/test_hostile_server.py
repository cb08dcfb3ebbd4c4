"""Texts of a server: no terminal obeys them, no line is forged by them, and no file is named by them."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

EVIL = "\x1b[2J\x1b]0;owned\x07\r\u009b31m\nfrepo-client: all is well \u202e\x7f"
CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x202E) if chr(code) != "\n"]
DIGEST = "94ee059335e587e501cc4bf90613e0814f00a7b08bc7c648fd865a2af6a22cc2"  # of TEST
COLLECTION = {
    "id": "0" * 8 + "-0000-4000-8000-" + "0" * 12,
    "name": EVIL,
    "state": "failed",
    "state_reason": EVIL,
    "newest_good": {"number": EVIL, "at": EVIL},
}
VERSION = {
    "number": 1,
    "created_at": EVIL,
    "verdict": "broken",
    "verdict_reason": EVIL,
    "size": 4,
    "sha256": DIGEST,
    "quarantined": True,
    "file_name": "0123456789../../../" + EVIL + "shop.sql",
}
PART = {
    "number": 1,
    "name": "../../../" + EVIL,
    "kind": "table",
    "size": 4,
    "parts": None,
    "refusal": None,
    "mode": "0644",
    "target": None,
    "modified_at": None,
}
OUTSIDE = ("../../../evil.sql", "..", "/evil.sql", "a/b.sql", ".", "", "nul\0.sql")
# Each command, and the exit status with which it ends.
COMMANDS = {
    "status": 2,
    "status --nagios": 2,
    "--json status": 2,
    "check": 0,
    "pull x": 0,
    "--json pull x": 0,
    "pull x -o -": 0,
    "restore x": 0,
    "restore x --table evil -o -": 0,
    "restore x --table none": 2,
    "restore x --path . -o folder": 0,
    "verify x": 0,
    "push x dump": 12,
    "pipe x -- echo INSERT": 12,
    "token rotate": 0,
    "enroll URL --code c": 0,
    "status missing": 3,
    "--json status missing": 3,
    "pull missing": 40,
}


class _HostileService(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.endswith(("/content", "/contents/1")):
            self._answer(200, b"TEST")
        elif "/contents?" in self.path:
            found = [] if "name=none" in self.path else [PART]
            if "parent=0" in self.path:
                found = [{**PART, "kind": "file", "name": name} for name in (*OUTSIDE, EVIL)]
            self._answer(200, json.dumps({"state": "listed", "items": found}).encode())
        elif "11111111" in self.path:
            self._answer(404, json.dumps({"detail": EVIL, "errors": [{"field": EVIL, "message": EVIL}]}).encode())
        elif "/versions/" in self.path:
            self._answer(200, json.dumps(VERSION).encode())
        elif self.path.startswith("/api/v1/collections?"):
            self._answer(200, json.dumps({"items": [COLLECTION]}).encode())
        else:
            self._answer(200, json.dumps({**COLLECTION, "token": {"name": EVIL, "fingerprint": EVIL}}).encode())

    def do_POST(self):
        if self.path == "/api/v1/uploads":
            self._answer(201, b"{}", Location="http://upstream.invalid:6543/api/v1/uploads/1")
        elif self.path.endswith("/commit"):
            self._answer(200, json.dumps({"version": VERSION}).encode())
        else:
            values = {"fingerprint": EVIL, "expires_at": EVIL, "name": EVIL, "collections": [COLLECTION]}
            self._answer(200, json.dumps(values).encode())

    def do_PATCH(self):
        self._answer(204, b"")

    def _answer(self, status, content, **headers):
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def hostile(machine):
    with ThreadingHTTPServer(("127.0.0.1", 0), _HostileService) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        machine.url = f"http://127.0.0.1:{server.server_port}"
        machine.home.joinpath("dump").write_text("INSERT")
        yield machine
        server.shutdown()
        thread.join()


def test_no_terminal_obeys_the_texts_of_a_server(hostile):
    for command, status in COMMANDS.items():
        words = command.replace("URL", hostile.url).replace(" x", f" {COLLECTION['id']}").split()
        words = [word.replace("missing", COLLECTION["id"].replace("0", "1")) for word in words]
        if "enroll" in words:
            words = ["--config", "new.toml", *words]
        done = hostile.run(*words, check=None, FREPO_TOKEN_FILE="" if "enroll" in words else str(hostile.token_file))

        printed = done.stdout.decode() + done.stderr.decode()
        assert status == done.returncode, (command, printed)
        assert [] == [character for character in CONTROLS if character in printed], command
        assert not any(line.startswith("frepo-client: all is well") for line in printed.splitlines()), command


def test_no_file_is_named_by_a_server(hostile):
    before = {path.name for path in hostile.home.iterdir()}

    hostile.run("pull", COLLECTION["id"])

    [made] = {path.name for path in hostile.home.iterdir()} - before - {".local"}
    assert made.startswith("_")
    assert (False, []) == (
        "/" in made,
        [character for character in CONTROLS if ord(character) < 0x80 and character in made],
    )
    assert [] == list(hostile.home.parent.glob("*.sql"))


def test_no_file_of_an_archive_is_written_outside_of_the_folder(hostile):
    hostile.run("restore", COLLECTION["id"], "--path", ".", "-o", "folder")

    assert [EVIL] == [path.name for path in (hostile.home / "folder").iterdir()]
    assert [] == list(hostile.home.parent.glob("**/*.sql"))
