"""The Debian package: an environment with the pinned wheels in /usr/lib/frepo, and what an operator needs around it."""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import pinned
from .sources import Sources

TEMPLATES = Path(__file__).parent / "debian"
PYTHON = Path("/usr/bin/python3")
HOME = "usr/lib/frepo"
SCRIPTS = ("frepo", "pserve")
UNITS = ("frepo@.service", "frepo-restore@.service", "frepo-restore.socket")
# Below /usr/local, so that an upgrade of the package leaves it alone.
PLUGINS = "/usr/local/lib/frepo/plugins"
# What pip writes for `pip uninstall`, with paths of the machine that builds.
OF_PIP = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")


def build(sources: Sources, target: Path) -> None:
    """Build frepo_VERSION_ARCHITECTURE.deb from the wheels of the target. Downloads the pinned wheels."""
    for program in (Path("/usr/bin/dpkg-deb"), PYTHON):
        if not program.exists():
            sys.exit(f"{program} is needed for the Debian package: apt-get install dpkg python3, on Debian")
    if not [*target.glob("frepo_core-*.whl")]:
        sys.exit("The Debian package is made of the wheels: build the part `wheels`, too")
    root = stage(sources, target)
    architecture = _output("dpkg", "--print-architecture")
    path = target / f"frepo_{sources.version}-1_{architecture}.deb"
    write_control(sources, root, architecture)
    for each in [root, *root.rglob("*")]:
        os.utime(each, (sources.epoch, sources.epoch), follow_symlinks=False)
    _run(sources, "dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "--build", root, path)


def stage(sources: Sources, target: Path) -> Path:
    """Return a folder with the files of the package, as they are below / later."""
    root = sources.folder.with_name("debian")
    _make_environment(sources, target, root / HOME)
    for source, place in {
        TEMPLATES / "frepo": "usr/bin/frepo",
        TEMPLATES / "restart": f"{HOME}/restart",
        TEMPLATES / "README.Debian": "usr/share/doc/frepo/README.Debian",
        TEMPLATES / "lintian-overrides": "usr/share/lintian/overrides/frepo",
        TEMPLATES / "copyright": "usr/share/doc/frepo/copyright",
        sources.folder / "production.ini": "etc/frepo/production.ini",
        sources.folder / "deploy/nginx.conf": "usr/share/doc/frepo/examples/nginx.conf",
    }.items():
        _install(root / place, source.read_bytes(), 0o755 if source.name in {"frepo", "restart"} else 0o644)
    for name, text in units(sources.folder).items():
        _install(root / "lib/systemd/system" / name, text.encode())
    date = _output("date", "--utc", "--rfc-email", f"--date=@{sources.epoch}")
    changelog = (
        f"frepo ({sources.version}-1) stable; urgency=medium\n\n  * frepo {sources.version}: see changelog.gz.\n"
    )
    changelog += f"\n -- {sources.publication.reachable}  {date}\n"
    compressed = gzip.compress(changelog.encode(), 9, mtime=0)
    _install(root / "usr/share/doc/frepo/changelog.Debian.gz", compressed)
    changes = gzip.compress((sources.folder / "CHANGES.md").read_bytes(), 9, mtime=0)
    _install(root / "usr/share/doc/frepo/changelog.gz", changes)
    return root


def units(folder: Path) -> dict[str, str]:
    """Return the units of systemd by their names, with the paths of the package. `folder` has the source."""
    texts = {name: (folder / "deploy" / name).read_text().replace("/opt/frepo", f"/{HOME}") for name in UNITS}
    return {name: re.sub(r" Install (it|both) in /etc/systemd/system/\.", "", text) for name, text in texts.items()}


def _make_environment(sources: Sources, target: Path, folder: Path) -> None:
    _run(sources, PYTHON, "-m", "venv", "--without-pip", "--symlinks", folder)
    python = folder / "bin/python3"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-compile",
        "--no-deps",
        "--no-warn-script-location",
        "--quiet",
    ]
    _run(sources, *pip, "--require-hashes", "--only-binary=:all:", "-r", pinned.FILE)
    _run(sources, *pip, "--no-index", *sorted(target.glob("*.whl")))
    (site,) = folder.glob("lib/python3.*/site-packages")
    for info in site.glob("*.dist-info"):
        for name in OF_PIP:
            (info / name).unlink(missing_ok=True)
    # For those who compile against libmagic.
    shutil.rmtree(site / "pylibmagic/pkgconfig", ignore_errors=True)
    (site / "pylibmagic/libmagic.la").unlink(missing_ok=True)
    (site / "plugins.pth").write_text(f"{PLUGINS}\n")
    for path in (folder / "bin").iterdir():
        if path.name not in {"python3", *SCRIPTS}:
            path.unlink()
    for name in SCRIPTS:
        script = folder / "bin" / name
        script.write_bytes(re.sub(rb"\A#!.*", f"#!/{HOME}/bin/python3".encode(), script.read_bytes()))
    shutil.rmtree(folder / "include", ignore_errors=True)
    (folder / "lib64").unlink(missing_ok=True)
    (folder / "pyvenv.cfg").write_text(f"home = {PYTHON.parent}\ninclude-system-site-packages = false\n")
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)


def write_control(sources: Sources, root: Path, architecture: str) -> None:
    """Write what the package says of itself, for the files that are in the folder."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    (site,) = root.glob(f"{HOME}/lib/python3.*")
    minor = int(site.name.rpartition(".")[2])
    repository = sources.publication.repository
    values = {
        "version": f"{sources.version}-1",
        "architecture": architecture,
        "maintainer": sources.publication.reachable,
        "homepage": repository and f"Homepage: {repository}\n",
        "python": f"python3 (>= 3.{minor}), python3 (<< 3.{minor + 1})",
        "size": str(sum(-(-path.stat().st_size // 1024) for path in files)),
    }
    control = root / "DEBIAN"
    _install(control / "control", (TEMPLATES / "control").read_text().format(**values).encode())
    _install(control / "conffiles", b"/etc/frepo/production.ini\n")
    for name in ("postinst", "prerm", "postrm"):
        _install(control / name, (TEMPLATES / name).read_bytes(), 0o755)
    sums = [
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(root)}\n"
        for path in files
    ]
    _install(control / "md5sums", "".join(sums).encode())


def _install(path: Path, content: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def _run(sources: Sources, *command: str | Path) -> None:
    done = subprocess.run(command, env=sources.environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")


def _output(*command: str) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}
    ).stdout.strip()
