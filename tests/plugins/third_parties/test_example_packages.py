"""Two third-party plug-ins, installed from wheels with frepo into a clean environment, work."""

import json
import subprocess
import urllib.request
from pathlib import Path

import pytest

from sshd import NOT_INSTALLED, SSHD
from support.servers.service import ROOT

CONTENT = b"a dump, far away" * 100_000


@pytest.fixture
def call():
    """Send a request with a token; return the body of the answer."""

    def call(service, method, path, body=None):
        url = path if "://" in path else service.url + path
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        kind = "application/json" if isinstance(body, dict) else "application/octet-stream"
        headers = {"X-Auth-Token": service.admin, "Content-Type": kind}
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    return call


def switch_to_sftp(ini: Path) -> list[str]:
    """Choose the third-party storage; return the changed lines."""
    before = ini.read_text()
    ini.write_text(before.replace("fs.adapter = local", "fs.adapter = sftp"))
    return sorted(set(ini.read_text().splitlines()) - set(before.splitlines()))


def module_places(environment) -> list[Path]:
    """Return the location of each package of frepo in the environment."""
    code = """
        import importlib.metadata as m, importlib.util as u, json
        names = {n for e in m.entry_points(group="frepo") for n in [e.value]} | {"frepo_core"}
        print(json.dumps([u.find_spec(n).origin for n in sorted(names)]))
    """
    return [
        Path(found)
        for found in json.loads(environment.run("python", "-c", "\n".join(map(str.strip, code.splitlines()))))
    ]


def test_nothing_of_frepo_comes_from_its_source_folders(installed):
    places = module_places(installed)

    # Pages of the documentation may have installed packages of their own before.
    assert len(places) >= 9
    assert [] == [place for place in places if not place.is_relative_to(installed.folder)]
    assert [] == [place for place in places if place.is_relative_to(ROOT)]


@pytest.mark.costly
def test_without_a_server_the_old_line_says_what_to_install(core_alone):
    done = subprocess.run(
        [core_alone.bin / "python", "-c", "import frepo_core; frepo_core.serve(None, {})"],
        env=core_alone.variables,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (1, True, False) == (done.returncode, "pip install frepo-server" in done.stderr, "Traceback" in done.stderr)


@pytest.mark.costly
def test_the_console_lists_third_party_plugins(installed):
    listed = json.loads(installed.run("frepo", "plugins", "-f", "json"))

    found = {(row["Kind"], row["Name"], f"{row['Package']} {row['Version']}") for row in listed}
    assert ("storage", "sftp", "frepo-storage-sftp 0.1.0") in found
    assert ("strategy", "keep_daily", "frepo-strategy-keep-daily 0.1.0") in found


@pytest.mark.costly
@pytest.mark.skipif(SSHD is None, reason=NOT_INSTALLED)
def test_one_line_of_the_ini_selects_the_third_party_storage(installed, sshd, ini_file, start_from, call):
    changed = switch_to_sftp(ini_file)
    service = start_from(installed, **sshd.environment)
    url = json.loads(call(service, "POST", "/repository/file/upload?fileName=dump.txt", CONTENT))["url"]

    content = call(service, "GET", url)

    assert ["fs.adapter = sftp"] == changed
    assert content == CONTENT
    # The storage also holds the mark of its owner, a small blob.
    assert [len(CONTENT)] == [
        size for path in sshd.blobs.rglob("*") if path.is_file() and (size := path.stat().st_size) > 1000
    ]
    assert not service.storage.exists()


@pytest.mark.costly
@pytest.mark.skipif(SSHD is None, reason=NOT_INSTALLED)
def test_a_third_party_command_uses_the_settings_of_the_service(installed, sshd, ini_file):
    said = installed.run("frepo", "--ini", str(ini_file), "sftp:check", **sshd.environment)

    assert "The SFTP server stores, returns and deletes blobs\n" == said


@pytest.mark.costly
@pytest.mark.skipif(SSHD is None, reason=NOT_INSTALLED)
def test_a_failed_third_party_command_reports_the_reason(installed, sshd, ini_file):
    with pytest.raises(AssertionError, match="The SFTP server or its folder cannot be used"):
        installed.run("frepo", "--ini", str(ini_file), "sftp:check", **(sshd.environment | {"FS_SFTP_PORT": "1"}))


@pytest.mark.costly
def test_a_collection_uses_the_third_party_strategy(installed, start_from, call):
    service = start_from(installed)
    form = {"filename": "dump.txt", "strategy": "keep_daily", "maxBackupsCount": 2}
    collection = json.loads(call(service, "POST", "/repository/collection", form))["collection"]["id"]
    for content in (b"first", b"second", b"third"):
        call(service, "POST", f"/repository/collection/{collection}/backup", content)

    versions = json.loads(call(service, "GET", f"/repository/collection/{collection}/backup"))["versions"]
    preview = json.loads(call(service, "GET", f"/keep-daily/{collection}/preview?size=5"))

    assert ["2", "3"] == sorted(versions)
    assert {"fits": True, "leaving": [2]} == preview


@pytest.mark.costly
def test_a_third_party_route_is_protected_and_documented_like_the_others(installed, start_from, call):
    service = start_from(installed)

    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{service.url}/keep-daily/00000000-0000-4000-8000-000000000000/preview")

    with refused.value as answer:
        assert json.load(answer)["error_code"] == 403
    assert "/keep-daily/{collection}/preview" in json.loads(call(service, "GET", "/api/doc.json"))["paths"]


@pytest.mark.costly
def test_without_a_storage_the_service_names_the_package_to_install(without_storage, start_from):
    with pytest.raises(RuntimeError, match="pip install frepo-storage-local"):
        start_from(without_storage)
