"""What `make release` has built, and a Debian made from nothing."""

import shutil
import subprocess

import pytest

from support.paths import ROOT

BASE = ROOT / "build/debian-base"  # kept, because it takes two minutes
INCLUDED = "ca-certificates,python3,python3-pip,adduser"


@pytest.fixture(scope="session")
def released():
    """The folder that `make release` has filled."""
    folder = ROOT / "build/release"
    if not (folder / "SHA256SUMS").exists():
        pytest.skip("the release is not installed in build/release: make release")
    return folder


@pytest.fixture(scope="session")
def debian_base():
    """A minimal Debian in a folder."""
    if not shutil.which("debootstrap"):
        pytest.skip("debootstrap is not installed: make release-services")
    if not (BASE / "usr/bin/pip").exists():
        shutil.rmtree(BASE, ignore_errors=True)
        BASE.parent.mkdir(exist_ok=True)
        subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={INCLUDED}", "bookworm", BASE],
            check=True,
            capture_output=True,
        )
        # This machine may trust an authority of its own for its package index.
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", BASE / "etc/ssl/certs/ca-certificates.crt")
    return BASE
