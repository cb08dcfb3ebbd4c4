"""The image of deploy/Containerfile, and the manifests next to it."""

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request

import psycopg
import pytest
import yaml
from sqlalchemy import make_url

from support.paths import ROOT
from support.scale import only_in_long_form
from support.servers import nginx, postgresql
from support.servers.processes import free_port, is_answered, running_process
from support.wire import eventually

CLIENTS = ROOT / ".venv-clients/bin/kubernetes-validate"
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())


def test_kubernetes_accepts_the_manifests():
    if not CLIENTS.exists():
        pytest.skip("kubernetes-validate is not installed: make services")

    done = subprocess.run(
        [CLIENTS, "--strict", ROOT / "deploy/kubernetes.yaml"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_nginx_of_the_composition_sends_to_the_service_alone():
    [_, _, script] = COMPOSE["services"]["nginx"]["command"]
    changes = script.partition(" /frepo.conf")[0]

    conf = subprocess.run(
        ["sh", "-c", f"{changes} {ROOT}/deploy/nginx.conf"], capture_output=True, text=True, check=True
    ).stdout

    assert re.findall(r"^ +server (\S+) max_fails", conf, re.MULTILINE) == ["frepo:6543"]


class Buildah:
    """Builds images in a folder, without a daemon and without a registry."""

    def __init__(self, folder):
        self._folder = folder

    def __call__(self, *words):
        variables = os.environ | {"BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs", "TMPDIR": str(self._folder)}
        command = ["buildah", "--root", self._folder / "store", "--runroot", self._folder / "run", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def buildah(debian_base, tmp_path_factory):
    """Build `frepo` from deploy/Containerfile, on a Debian with the names of programs that Python's image has."""
    if not shutil.which("buildah"):
        pytest.skip("buildah is not installed: make release-services")
    buildah = Buildah(tmp_path_factory.mktemp("buildah"))
    base = buildah("from", "scratch")
    buildah("add", "--quiet", base, debian_base, "/")
    buildah("run", base, "sh", "-c", "rm /usr/lib/python3.*/EXTERNALLY-MANAGED; ln -s python3 /usr/bin/python")
    buildah("commit", "--quiet", base, "localhost/python")
    buildah(
        "bud", "--pull-never", "--build-arg=PYTHON=localhost/python", "--file=deploy/Containerfile", "--tag=frepo", "."
    )
    return buildah


@only_in_long_form
def test_the_image_is_built_and_its_commands_run(buildah):
    built = buildah("from", "--pull-never", "localhost/frepo")
    settings = ["--env", "DATABASE_URL=sqlite:////var/lib/frepo/frepo.db", "--env", "APP_SECRET=a"]
    settings += ["--env", "ENC_TOKEN_PHRASE=b"]
    buildah("run", *settings, built, "frepo", "db:upgrade", "--create")
    token = buildah("run", *settings, built, "frepo", "auth:generate-admin-token")
    user = buildah("run", built, "id", "--user")

    assert re.fullmatch(r"[0-9a-f-]{36}", token)
    assert user == "10001"


def environment_of(service, secrets, names):
    """Return the variables of a service of compose.yaml; `names` are the addresses of its containers here."""
    filled = {
        name: re.sub(r"\$\{(\w+)(:\?[^}]*)?\}", lambda found: secrets[found[1]], value)
        for name, value in COMPOSE["services"][service]["environment"].items()
    }
    for name, address in names.items():
        filled = {key: value.replace(name, address) for key, value in filled.items()}
    return filled


@only_in_long_form
@pytest.mark.skipif(bool(postgresql.MISSING or nginx.MISSING), reason="PostgreSQL or nginx is not installed")
def test_the_composition_stores_a_first_file_through_nginx(buildah, tmp_path):
    """The command of the image runs in its root, without an engine, next to Debian's PostgreSQL and nginx."""
    built = buildah("from", "--pull-never", "localhost/frepo")
    root = buildah("mount", built)
    config = json.loads(buildah("inspect", "--type=image", "localhost/frepo"))["OCIv1"]["config"]
    port = free_port()
    with postgresql.postgresql() as admin_url:
        secrets = dict.fromkeys(("APP_SECRET", "ENC_TOKEN_PHRASE", "HEALTH_CHECK_CODE"), "5ecret" * 6)
        secrets["POSTGRES_PASSWORD"] = "d4tabase"
        make_database(admin_url, environment_of("database", secrets, {}))
        names = {"@database/": f"@127.0.0.1:{make_url(admin_url).port}/", "172.31.254.0/24": "127.0.0.0/8"}
        own = dict(pair.split("=", 1) for pair in config["Env"]) | environment_of("frepo", secrets, names)
        own["HTTP_LISTEN"] = own["HTTP_LISTEN"].replace("0.0.0.0:6543", f"127.0.0.1:{port}")

        def inside(*words):
            """Return a command that runs the words in the image's root, as its user, and ends with what it started."""
            # The kernel ends the shell with `unshare`, and would not end a process that has changed its user.
            script = f'mount --rbind /dev {root}/dev; chroot --userspec={config["User"]} {root} "$@" || exit'
            alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc"]
            variables = [f"{name}={value}" for name, value in own.items()]
            return [
                *alone,
                "sh",
                "-c",
                script,
                "sh",
                "env",
                "-i",
                f"--chdir={config['WorkingDir']}",
                *variables,
                *words,
            ]

        subprocess.run(inside("frepo", "db:upgrade", "--create"), check=True, capture_output=True)
        created = subprocess.run(
            inside("frepo", "auth:generate-admin-token"), check=True, capture_output=True, text=True
        )
        token = created.stdout.strip()
        url = f"http://127.0.0.1:{port}/"
        with (
            running_process(inside(*config["Cmd"]), tmp_path, lambda: is_answered(url), stop=signal.SIGKILL),
            nginx.nginx([f"127.0.0.1:{port}"]) as proxy,
        ):
            outside = f"http://{proxy.address}/repository/file/upload?fileName=first.txt"
            sent = json.loads(send(outside, token, "POST", b"the first file"))
            path = sent["url"].partition("//")[2].partition("/")[2]
            received = send(f"http://{proxy.address}/{path}", token)
        assert eventually(False, lambda: is_answered(url)) is False
        buildah("umount", built)

    assert (b"the first file", f"http://{proxy.address}/{path}") == (received, sent["url"])


def make_database(admin_url, wanted):
    """Make the owner and the database that the image of PostgreSQL makes."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        user, name, password = (wanted[f"POSTGRES_{part}"] for part in ("USER", "DB", "PASSWORD"))
        connection.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{password}'")
        connection.execute(f"CREATE DATABASE {name} OWNER {user}")


def send(url, token, method="GET", body=None):
    request = urllib.request.Request(url, method=method, data=body, headers={"X-Auth-Token": token})
    with urllib.request.urlopen(request) as answer:
        return answer.read()
