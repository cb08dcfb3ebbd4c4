"""Fills a service with the demonstration's data, as `make demo` does."""

import os
import subprocess
import sys

from support.paths import ROOT


def run_demo(environment, *arguments):
    """Run the program with this environment, which has the settings; return what has ended."""
    paths = [str(ROOT / "tools"), *filter(None, [environment.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "demo", *arguments],
        env={**environment, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )


def fill_service(service):
    """Fill an empty `Service`. It may take longer than a fork is waited for."""
    done = run_demo({**service.environment, "FREPO_INI": str(service.ini)})
    assert 0 == done.returncode, done.stderr
