"""Each wheel installs alone with what it requires, and brings the code that its entry points name."""

import pytest

from support.installation.environments import OWN, make_environment

LOAD = """
from importlib.metadata import distribution
names = [entry.load() and entry.name for entry in distribution({name!r}).entry_points if entry.group != "pytest11"]
print(distribution({name!r}).version, len(names))
"""


@pytest.mark.parametrize("name", [path.name.replace("_", "-") for path in OWN])
def test_a_wheel_installs_alone(wheels, tmp_path, name):
    environment = make_environment(tmp_path / "venv", wheels, name)

    version, entry_points = environment.run("python", "-c", LOAD.format(name=name)).split()

    assert version[0].isdecimal()
    assert int(entry_points) > 0
