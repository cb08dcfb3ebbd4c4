"""A missing library is reported when an encoded content is met, not when frepo is imported."""

import runpy
import sys

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.features.compact.encodings import libraries


@pytest.mark.parametrize("name", ["pyfastcdc", "compression" if sys.version_info >= (3, 14) else "backports"])
def test_a_missing_library_says_what_to_install(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    module = runpy.run_path(libraries.__file__)

    with pytest.raises(ConfigurationError, match=rf"the package '{name}.*pip install 'frepo-core\[compact\]'"):
        module["require_libraries"]()


def test_the_installed_libraries_are_enough():
    libraries.require_libraries()
