"""The image of deploy/Containerfile, and the manifests next to it."""

import re
import shutil
import subprocess

import pytest
import yaml

from support.paths import ROOT
from support.scale import only_in_long_form

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


@only_in_long_form
def test_the_image_is_built_and_its_commands_run(debian_base, tmp_path, monkeypatch):
    """No registry of images is asked: the base is a Debian with the names of programs that Python's image has."""
    if not shutil.which("buildah"):
        pytest.skip("buildah is not installed: make release-services")
    monkeypatch.setenv("BUILDAH_ISOLATION", "chroot")
    monkeypatch.setenv("STORAGE_DRIVER", "vfs")
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def buildah(*words):
        command = ["buildah", "--root", tmp_path / "store", "--runroot", tmp_path / "run", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    base = buildah("from", "scratch")
    buildah("add", "--quiet", base, debian_base, "/")
    buildah("run", base, "sh", "-c", "rm /usr/lib/python3.*/EXTERNALLY-MANAGED; ln -s python3 /usr/bin/python")
    buildah("commit", "--quiet", base, "localhost/python")
    buildah(
        "bud", "--pull-never", "--build-arg=PYTHON=localhost/python", "--file=deploy/Containerfile", "--tag=frepo", "."
    )

    built = buildah("from", "--pull-never", "localhost/frepo")
    settings = ["--env", "DATABASE_URL=sqlite:////var/lib/frepo/frepo.db", "--env", "APP_SECRET=a"]
    settings += ["--env", "ENC_TOKEN_PHRASE=b"]
    buildah("run", *settings, built, "frepo", "db:upgrade", "--create")
    token = buildah("run", *settings, built, "frepo", "auth:generate-admin-token")
    user = buildah("run", built, "id", "--user")

    assert re.fullmatch(r"[0-9a-f-]{36}", token)
    assert user == "10001"
