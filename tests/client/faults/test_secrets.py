"""No error prints a secret: each one is sent through each way in which a command can fail."""

import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.proxies.old_proxy import old_proxy
from support.scale import IS_ALL

TOKEN = "5ecre7aa-0000-4000-8000-00000000a11e"
PASSWORD = "pass-5ecre7"
WORD = "5ecre7"


class _Echo(BaseHTTPRequestHandler):
    """Answers each request with all that it has got, in the way that the first part of the path says."""

    def _answer(self):
        how, said = self.path.split("/")[1], f"{self.path} {self.headers} {self.rfile.read(self._length()).decode()}"
        status = int(how) if how.isdigit() else 200
        line = said.replace("\r", " ").replace("\n", " ")
        content = f'{{"detail": "{line}", "title": "{line}"}}' if how != "html" else f"<html>{line}"
        self.send_response(status, line[:200] if how == "reason" else None)
        self.send_header("Content-Length", str(len(content.encode())))
        if status in {301, 308}:
            self.send_header("Location", f"http://127.0.0.1:1/?{line.replace(' ', '+')}")
        if how != "close":
            self.end_headers()
            self.wfile.write(content.encode())

    def _length(self):
        return int(self.headers.get("Content-Length", "0"))

    do_GET = do_POST = do_PUT = do_HEAD = do_PATCH = do_DELETE = _answer

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def echo():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def fails(machine):
    """Run a command, which must fail, and no output of which may have a secret."""

    def run(*words, **environment):
        done = machine.run("--retry", "0", *words, check=None, **environment)
        printed = (done.stdout + done.stderr).decode()
        assert done.returncode, (words, printed)
        assert "Traceback" not in printed, words
        assert WORD not in printed, (words, printed)
        return printed

    return run


WAYS = (
    *("308", "404", "500", "close", "200"),
    *(
        pytest.param(way, marks=pytest.mark.costly)
        for way in ["301", "400", "401", "413", "422", "503", "html", "reason"]
    ),
)
COMMANDS = ("check", "push x dump", "pull x", "pipe x -- echo INSERT", "token rotate", "status")


@pytest.mark.parametrize("way", WAYS)
def test_a_server_that_repeats_what_it_gets_shows_no_token(fails, machine, echo, way):
    machine.home.joinpath("dump").write_text("INSERT")
    machine.token_file.write_text(f"Authorization: Bearer {TOKEN}\n")
    for command in COMMANDS if IS_ALL else COMMANDS[len(way) % 2 :: 2]:
        words = command.replace(" x", f" {uuid.uuid4()}").split()
        fails("--url", f"http://{echo}/{way}", *words, FREPO_URL="")


@pytest.mark.costly
def test_a_token_in_a_variable_is_read_with_what_surrounds_it(machine):
    token = machine.token_file.read_text()
    for given in (f"{token}\n", f" {token} ", f"Authorization: Bearer {token}\r\n"):
        machine.run("check", FREPO_TOKEN=given, FREPO_TOKEN_FILE="")


def test_a_token_that_cannot_be_sent_is_not_shown(fails):
    for given in (f"{TOKEN}\x1b", f"{TOKEN}ä", "\udcff" + TOKEN, f"a\0{TOKEN}"[2:] + "\x7f"):
        printed = fails("check", FREPO_TOKEN=given, FREPO_TOKEN_FILE="")
        assert "FREPO_TOKEN has no token" in printed


def test_a_token_in_place_of_its_file_is_not_shown(fails, machine):
    token = TOKEN.replace("5ecre7", "5ecfe7").upper()
    for words, variables in ((["--token-file", token], {}), ([], {"FREPO_TOKEN_FILE": f" {token}"})):
        done = machine.run(*words, "check", check=2, **variables)
        assert b"name a file that has the token" in done.stderr
        assert b"5ecfe7" not in done.stderr.lower()


def test_a_password_in_an_address_is_not_shown(fails, echo):
    addresses = [
        f"http://user:{PASSWORD}@127.0.0.1:1",
        f"user:{PASSWORD}@127.0.0.1",
        f"ftp://user:{PASSWORD}@127.0.0.1",
        f"http://user:{PASSWORD}@[::1",
        f"http://u:{PASSWORD}@h:port",
        f"http://h h?_token={TOKEN}",
    ]
    for address in addresses:
        fails("--url", address, "check", FREPO_URL="")


def test_a_dead_proxy_is_named_without_its_password(fails, machine):
    printed = fails("--url", "http://files.invalid", "check", http_proxy=f"http://user:{PASSWORD}@127.0.0.1:1")

    assert "Connection refused (through the proxy http://127.0.0.1:1 of http_proxy)" in printed


def test_secrets_of_a_job_are_not_shown(fails, machine):
    machine.home.joinpath("a.env").write_text(f'PGPASSWORD={PASSWORD}"ä\n')
    job = """
        [job.shop]
        collection = "shop.sql"
        env_file = "a.env"
        command = ["sh", "-c", "echo $PGPASSWORD postgres://u:{0}@h >&2; exit 3"]
        ping_url = {1}
    """.replace("{0}", PASSWORD)
    for ping in (f'"http://u:{PASSWORD}@127.0.0.1:1/{TOKEN}"', f'["http://127.0.0.1:1/{TOKEN}"]', f'"{TOKEN} {{"'):
        machine.home.joinpath("client.toml").write_text(job.replace("{1}", ping))
        for words in (["run"], ["--json", "run"]):
            fails("--config", "client.toml", *words)
    assert WORD not in str(machine.runs())


def test_a_code_is_not_shown(fails, machine, echo):
    for way in WAYS:
        words = ["--config", f"{way}.toml", "enroll", f"http://{echo}/{way}", "--code", "code-5ecre7"]
        fails(*words, FREPO_URL="", FREPO_TOKEN_FILE=str(machine.home / f"{way}.token"))


def test_an_address_is_taken_as_it_is_meant(machine):
    for address in (f" {machine.url}", f"{machine.url}/api/v1", f"{machine.url}/api/v1/ \n", f"\t{machine.url}/"):
        machine.run("check", FREPO_URL=address)


def test_a_proxy_that_takes_small_bodies_only_gets_smaller_parts(machine):
    machine.home.joinpath("dump").write_bytes(bytes(range(256)) * 20000)
    push = ["push", "shop.sql", "dump", "--content-encoding", "none"]
    with old_proxy(largest=2 << 20) as (url, passed):
        machine.run(*push, http_proxy=url)
    machine.home.joinpath("dump").write_bytes(bytes(range(255)) * 20000)
    with old_proxy(largest=1 << 19) as (url, _):
        done = machine.run(*push, check=40, http_proxy=url)

    assert 3 <= passed.count("PATCH") <= 6
    assert [5120000] == [version["size"] for version in machine.versions()]
    assert b"client_max_body_size of nginx" in done.stderr
