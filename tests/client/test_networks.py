"""What happens to an upload between the client and the service: networks, proxies, full disks, wrong clocks."""

import contextlib
import hashlib
import os
import random
import subprocess
import time

import pytest

from frepo_client.uploads.session import PART
from support.proxies.old_proxy import old_proxy
from support.reliability.faulty_proxy import FaultyProxy
from support.scale import IS_BIG, first_of, only_in_long_form
from support.servers import nginx
from support.servers.disks import small_disk
from support.servers.processes import free_port, running_process
from support.wire import eventually

from .conftest import Machine

SEED = int(os.environ.get("FREPO_SEED", "36"))
SIZE, CUTS = (1 << 30, 50) if IS_BIG else (2 * PART + (5 << 20), 4)
SMALL = PART + (3 << 20)
SLACK = 1 << 20
SECONDS = 1800 if IS_BIG else 120
BUFFERING = """
server {{
    listen 127.0.0.1:{port};
    client_max_body_size 0;
    location / {{
        proxy_pass http://{upstream};
        proxy_http_version 1.0;
        proxy_set_header Host $http_host;
    }}
}}
"""
CLOCK = """
import datetime, time
right = time.time
time.time = lambda: right() + {offset}
time.time_ns = lambda: int(time.time() * 10**9)
class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(time.time(), tz)
Clock.__name__ = "datetime"
original, datetime.datetime = datetime.datetime, Clock
Clock.now = classmethod(lambda cls, tz=None: original.fromtimestamp(time.time(), tz))
"""


def make_dump(machine, size):
    """Write a file of random bytes; return its SHA-256."""
    made, digest = random.Random(SEED), hashlib.sha256()
    with (machine.home / "dump").open("wb") as file:
        for at in range(0, size, 1 << 20):
            piece = made.randbytes(min(1 << 20, size - at))
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def fill(path):
    """Let a file take all the room of its disk."""
    with contextlib.suppress(OSError), path.open("ab") as file:
        while True:
            file.write(bytes(1 << 20))


def digests(machine):
    return [version["sha256"] for version in machine.versions()]


def end_of(client):
    """Wait for a client that must end well."""
    with client.stderr:
        output = client.stderr.read()
        assert 0 == client.wait(SECONDS), output[-3000:]
    return output


def test_cuts_at_random_bytes_cost_at_most_a_part_each(machine):
    """Cut is a request with its part, or the answer to one."""
    digest, choose = make_dump(machine, SIZE), random.Random(SEED)
    with FaultyProxy(machine.service.address) as proxy:
        machine.url = proxy.url
        client = machine.start("pipe", "shop.sql", "--", "cat", "dump", stderr=subprocess.PIPE)
        cuts = 0
        while cuts < CUTS and client.poll() is None:
            if choose.random() < 0.3:
                proxy.arm("cut", "down", choose.randrange(1, 150))
            else:
                proxy.arm("cut", "up", choose.randrange(1, PART))
            if eventually(True, lambda: proxy.is_over or client.poll() is not None, SECONDS) and proxy.is_over:
                cuts += 1
        end_of(client)

    assert [digest] == digests(machine)
    assert (CUTS, True) == (cuts, proxy.received <= SIZE + CUTS * PART + SLACK)


@pytest.mark.costly
def test_a_network_that_never_passes_a_whole_part_passes_smaller_ones(machine):
    digest, most, cuts = make_dump(machine, SMALL), PART // 3, 0
    with FaultyProxy(machine.service.address) as proxy:
        machine.url = proxy.url
        client = machine.start("--retry", "20", "push", "shop.sql", "dump", stderr=subprocess.PIPE)
        while client.poll() is None:
            proxy.arm("cut", "up", most)
            cuts += 1
            assert eventually(True, lambda: proxy.is_over or client.poll() is not None, SECONDS)
        end_of(client)

    assert [digest] == digests(machine)
    assert proxy.received <= SMALL + cuts * most + SLACK


@pytest.mark.costly
def test_a_service_that_is_gone_for_a_while_is_waited_for(machine):
    digest = make_dump(machine, SMALL)
    client = machine.start("pipe", "shop.sql", "--", "sh", "-ec", "cat dump; touch read", stderr=subprocess.PIPE)
    assert eventually(True, (machine.home / "read").exists, SECONDS)
    machine.service.stop(9)
    time.sleep(1)
    machine.service.start()
    end_of(client)

    assert [digest] == digests(machine)


@only_in_long_form
def test_a_network_that_is_silent_for_ten_minutes_is_waited_for(machine):
    digest = make_dump(machine, SMALL)
    with FaultyProxy(machine.service.address) as proxy:
        machine.url = proxy.url
        proxy.arm("hold", "up", PART // 2)
        client = machine.start("push", "shop.sql", "dump", stderr=subprocess.PIPE)
        proxy.wait_until_held()
        proxy.arm("hold", "up", 1)
        time.sleep(600)
        proxy.release()
        end_of(client)

    assert [digest] == digests(machine)
    assert proxy.received <= SMALL + 2 * PART + SLACK


@contextlib.contextmanager
def through_nginx(machine):
    """Send to an nginx that buffers requests and answers, and speaks HTTP/1.0 to the service."""
    port, folder = free_port(), machine.home / "nginx"
    folder.mkdir()
    (folder / "nginx.conf").write_text(
        nginx.AROUND.format(folder=folder, user="user root;" if not os.geteuid() else "")
    )
    (folder / "frepo.conf").write_text(BUFFERING.format(port=port, upstream=machine.service.address))
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    machine.url = f"http://127.0.0.1:{port}"
    with running_process(command, folder, lambda: (folder / "pid").exists() and (folder / "pid").stat().st_size):
        yield {}


@contextlib.contextmanager
def through_old_proxy(machine):
    with old_proxy() as (url, passed):
        yield {"http_proxy": url}
    assert {"POST", "PATCH", "GET"} <= {*passed}


@pytest.mark.costly
@pytest.mark.parametrize("proxy", [through_nginx, through_old_proxy])
def test_proxies_that_buffer_and_speak_http_1_0(machine, proxy):
    if proxy is through_nginx and nginx.MISSING:
        pytest.skip(nginx.MISSING)
    digest = make_dump(machine, SMALL)
    with proxy(machine) as environment:
        machine.run("pipe", "shop.sql", "--", "cat", "dump", **environment)
        machine.run("pull", "shop.sql", "-o", "restored", **environment)

    assert [digest] == digests(machine)
    assert digest == hashlib.sha256((machine.home / "restored").read_bytes()).hexdigest()


@pytest.fixture
def own_machine(tmp_path, make_service, program):
    """Make a machine with a service of its own, which keeps its state in a folder, while the context is open."""

    @contextlib.contextmanager
    def make(**options):
        folder = tmp_path / "service"
        folder.mkdir(exist_ok=True)
        service = make_service(folder, **options)
        service.start()
        (tmp_path / "home").mkdir()
        try:
            yield Machine(tmp_path / "home", program, service)
        finally:
            service.stop()

    return make


@pytest.mark.costly
def test_ipv6(own_machine):
    with own_machine(host="[::1]") as machine:
        digest = make_dump(machine, SMALL)
        machine.run("push", "shop.sql", "dump")
        machine.run("pull", "shop.sql", "--into", "--", "cmp", "-", "dump")

        assert [digest] == digests(machine)


def test_an_upload_ends_when_the_full_disk_of_the_service_has_room_again(tmp_path, own_machine):
    with (
        small_disk(tmp_path / "service", "100m") as folder,
        own_machine(environment={"UPLOADS_MAX_TOTAL": "1GB"}) as machine,
    ):
        digest, filler = make_dump(machine, SMALL), folder / "filler"
        fill(filler)
        os.truncate(filler, filler.stat().st_size - (8 << 20))
        done = machine.run("--retry", "2s", "pipe", "shop.sql", "--", "cat", "dump", check=40)
        state = machine.state()
        refused = [event["data"]["message"] for event in machine.call("GET", "events?kind=version.refused")["items"]]
        fill(filler)
        client = machine.start("push", "shop.sql", "dump", stderr=subprocess.PIPE)
        told = client.stderr.readline()
        filler.unlink()
        end_of(client)

        assert b"(HTTP 507)\n" in done.stderr
        assert done.stderr.count(b"next attempt") in {1, 2}
        assert "failed" == state["state"]
        assert state["state_reason"].startswith("The disk for uploads in parts has no room left")
        assert ["The disk for uploads in parts has no room left"] == refused
        assert b"(HTTP 507); next attempt in" in told
        assert [digest] == digests(machine)


@pytest.mark.parametrize("size", [5 << 20, 100], ids=["large", "small"])
def test_a_spool_on_a_full_disk_keeps_nothing_and_says_so(machine, size):
    make_dump(machine, size)
    with small_disk(machine.home / "spool", "1m") as spool:
        machine.home.joinpath("client.toml").write_text(f"""
            [job.shop]
            collection = "shop.sql"
            command = ["cat", "dump"]
            spool = "{spool}"
        """)
        with contextlib.suppress(OSError):
            (spool / "filler").write_bytes(bytes(2 << 20))

        done = machine.run("--config", "client.toml", "run", check=20)

        assert b"the dump cannot be kept in the spool: No space left on device" in done.stderr
        assert ["filler"] == os.listdir(spool)
    assert ([], "failed") == (machine.versions(), machine.state()["state"])


@pytest.mark.costly
def test_a_restore_to_a_full_disk_is_said(machine):
    make_dump(machine, 5 << 20)
    machine.run("push", "shop.sql", "dump")
    with small_disk(machine.home / "full", "1m"):
        done = machine.run("pull", "shop.sql", "-o", "full/restored", check=20)
        assert b"full/restored cannot be written: No space left on device" in done.stderr
        assert not (machine.home / "full/restored").exists()
    with open("/dev/full", "wb") as full:
        command = machine.command("pull", "shop.sql", "-o", "-")
        done = subprocess.run(
            command, env=machine.environment, cwd=machine.home, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (20, b"No space left on device" in done.stderr) == (done.returncode, True)
    assert b"Traceback" not in done.stderr


@pytest.mark.costly
@pytest.mark.parametrize("offset", first_of([-86400, 86400]))
def test_a_clock_that_is_wrong_by_a_day_loses_no_version(machine, offset):
    """Neither is an upload refused, nor condemns a failed run the version of another night."""
    machine.home.joinpath("sitecustomize.py").write_text(CLOCK.format(offset=offset))
    digest, clock = make_dump(machine, SMALL), {"PYTHONPATH": str(machine.home)}

    machine.run("pipe", "shop.sql", "--", "cat", "dump", **clock)
    machine.run("pipe", "shop.sql", "--", "false", check=20, **clock)

    assert [(digest, "complete")] == [(one["sha256"], one["verdict"]) for one in machine.versions()]
    starts = {run["started_at"][:10] for run in machine.runs()}
    assert starts == {time.strftime("%Y-%m-%d", time.gmtime(time.time() + offset))}
