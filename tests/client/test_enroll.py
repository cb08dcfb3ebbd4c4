"""`frepo-client enroll` and `token rotate`: nothing secret is shown, and a lost answer locks no host out."""

import json
import subprocess
import urllib.error
import uuid

import pytest

from support.reliability.faulty_proxy import FaultyProxy
from support.scale import IS_BIG

HOSTS = 100 if IS_BIG else 2


class Host:
    """A machine that has no token yet, and a one-time code for the collection of `machine`."""

    def __init__(self, machine, name, home):
        self.machine, self.home = machine, home
        home.mkdir()
        self.config, self.token_file = home / "frepo-client.toml", home / "frepo-token"
        made = machine.call("POST", "enrolments", {"name": name, "collections": [machine.collection]})
        self.code, self.id = made["code"], made["id"]

    def run(self, *words, check=0, **more):
        """Run the client with this host's configuration alone."""
        environment = {name: self.machine.environment[name] for name in ("PATH", "HOME")}
        done = subprocess.run(
            self.machine.command("--config", str(self.config), *words),
            env=environment | more.pop("environment", {}),
            cwd=self.home,
            capture_output=True,
            timeout=60,
            check=False,
            **more,
        )
        assert check is None or done.returncode == check, (done.returncode, done.stdout, done.stderr)
        return done

    def enroll(self, code=None, url=None, **more):
        return self.run("enroll", url or self.machine.url, input=(code or self.code).encode(), **more)

    @property
    def secret(self):
        return self.token_file.read_text().strip()


@pytest.fixture
def host(machine, tmp_path):
    return Host(machine, "db7", tmp_path / "db7")


@pytest.fixture
def proxy(machine):
    with FaultyProxy(machine.service.address) as proxy:
        yield proxy


def mode(path):
    return path.stat().st_mode & 0o777


def test_each_host_enrols_itself_and_makes_a_backup(machine, tmp_path):
    for number in range(HOSTS):
        host = Host(machine, f"db{number}", tmp_path / f"db{number}")

        done = host.enroll()

        assert (0o600, 0o600) == (mode(host.config), mode(host.token_file))
        assert [host.code in text or host.secret in text for text in (done.stdout.decode(), done.stderr.decode())] == [
            False,
            False,
        ]
        assert "shop.sql" in host.config.read_text()
        assert "there are no jobs, so `run` makes no backup" in host.run("check").stderr.decode()
        host.run("pipe", machine.collection, "--", "echo", f"{number}")
        assert "used" == machine.call("GET", f"enrolments/{host.id}")["state"]
        assert not list(host.home.glob("*.new"))
    host.config.write_text(host.config.read_text().replace("# ", ""))
    assert "there are no jobs" not in host.run("check", check=None).stderr.decode()
    host.run("status")


@pytest.mark.costly
def test_a_lost_answer_uses_no_code_up(machine, host, proxy):
    proxy.arm("cut", "down", 1)
    host.enroll(url=proxy.url)

    fingerprint = machine.call("GET", f"enrolments/{host.id}")["token"]
    assert fingerprint == json.loads(host.run("--json", "check").stdout.splitlines()[0])["token"]["fingerprint"]


@pytest.mark.costly
def test_a_client_that_was_ended_before_the_answer_goes_on(machine, host, proxy):
    proxy.arm("cut", "down", 1)
    host.run("--retry", "0", "enroll", proxy.url, input=host.code.encode(), check=30)
    assert not host.token_file.exists()
    assert 0o600 == mode(host.home / "frepo-token.new")

    host.enroll()

    assert "db7" in host.run("check").stdout.decode()


@pytest.mark.costly
def test_used_wrong_and_revoked_codes_are_refused(machine, host, tmp_path):
    host.enroll()
    other = Host(machine, "db8", tmp_path / "db8")
    used = other.enroll(code=host.code, check=40)
    machine.call("DELETE", f"enrolments/{other.id}")
    revoked, again = other.enroll(check=40), host.enroll(check=2)

    assert b"used already" in used.stderr
    assert b"revoked" in revoked.stderr
    assert b"this machine has a token" in again.stderr
    assert not any(host.code in done.stderr.decode() for done in (used, revoked, again))
    assert [] == list(other.home.iterdir())


@pytest.mark.costly
def test_a_token_in_the_environment_is_not_passed_on(machine, host):
    host.enroll()
    url, secret = f'url = "{machine.url}"', host.secret
    host.config.write_text(f"[server]\n{url}\n")

    words = ("pipe", machine.collection, "--", "sh", "-ec", "env >&2; echo a")
    done = host.run(*words, environment={"FREPO_TOKEN": secret})

    assert secret not in done.stderr.decode()
    assert "FREPO_TOKEN" not in done.stderr.decode()


@pytest.mark.costly
def test_a_token_replaces_itself(machine, host):
    host.enroll()
    old = host.secret
    host.token_file.write_text(f"Authorization: Bearer {old}\n")  # a file for curl

    done = host.run("token", "rotate")

    new = host.secret.rpartition(" ")[2]
    assert f"Authorization: Bearer {new}" == host.secret != f"Authorization: Bearer {old}"
    assert 0o600 == mode(host.token_file)
    assert [False] * 4 == [secret in text.decode() for secret in (old, new) for text in (done.stdout, done.stderr)]
    host.run("check")
    assert not list(host.home.glob("*.new"))


@pytest.mark.costly
def test_a_rotation_that_got_no_answer_is_completed_by_the_next_run(machine, host, proxy):
    host.enroll()
    old, direct = host.secret, host.config.read_text()
    host.config.write_text(f'{direct}\n[job.shop]\ncollection = "{machine.collection}"\ncommand = [["echo", "a"]]\n')
    proxy.arm("cut", "down", 1)
    host.run("--url", proxy.url, "--retry", "0", "token", "rotate", check=30)
    pending = (host.home / "frepo-token.new").read_text().strip()
    assert (old, 0o600) == (host.secret, mode(host.home / "frepo-token.new"))
    host.run("check")

    host.run("run")

    assert pending == host.secret != old
    assert not list(host.home.glob("*.new"))
    host.run("token", "rotate")


@pytest.mark.costly
def test_a_rotation_whose_answer_was_lost_until_the_old_token_ended_is_completed(machine, host, proxy):
    host.enroll()
    proxy.arm("cut", "down", 1)
    host.run("--url", proxy.url, "--retry", "0", "token", "rotate", check=30)
    pending = (host.home / "frepo-token.new").read_text().strip()
    machine.call_as(pending, "GET", "")  # its first use
    host.token_file.write_text(str(uuid.uuid4()))  # as one that has ended

    host.run("token", "rotate")

    assert pending == host.secret


@pytest.mark.costly
def test_a_token_that_somebody_else_has_replaced_is_not_rotated(machine, host):
    host.enroll()
    stolen = machine.call_as(host.secret, "POST", "tokens/self/rotate", {})["secret"]
    machine.call_as(stolen, "GET", "")

    refused = host.run("token", "rotate", check=40)

    assert b"which is in use" in refused.stderr
    machine.call("DELETE", f"tokens/{machine.call('GET', f'enrolments/{host.id}')['token']}")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        machine.call_as(stolen, "GET", "")
