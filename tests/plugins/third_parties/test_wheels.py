"""Each wheel installs alone with what it requires, and brings the code that its entry points name."""

import pytest

from support.installation.environments import OWN, make_environment
from support.scale import IS_BIG

LOAD = """
from importlib.metadata import distribution
names = [entry.load() and entry.name for entry in distribution({name!r}).entry_points if entry.group != "pytest11"]
print(distribution({name!r}).version, len(names))
"""


# The short form has the one without plug-ins, one with plug-ins and a library, and the one that needs nothing.
SHORT = {"frepo-core", "frepo-storage-s3", "frepo-client"}
NAMES = [path.name.replace("_", "-") for path in OWN]


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES if IS_BIG else [name for name in NAMES if name in SHORT])
def test_a_wheel_installs_alone(wheels, tmp_path, name):
    environment = make_environment(tmp_path / "venv", wheels, name)

    version, entry_points = environment.run("python", "-c", LOAD.format(name=name)).split()

    assert version[0].isdecimal()
    assert int(entry_points) > 0
