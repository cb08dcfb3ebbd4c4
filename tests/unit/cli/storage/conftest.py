"""A console with a second copy of its only content."""

import pytest


@pytest.fixture
def mirrored(console):
    offsite = {"ADAPTER": "local", "DIRECTORY": str(console.folder / "offsite")}
    console.environment |= {f"STORAGE_OFFSITE_{setting}": value for setting, value in offsite.items()}
    console.environment |= {"STORAGES": "offsite", "MIRROR": "offsite"}
    (console.folder / "a.txt").write_text("hello")
    console.answer("file:upload", "a.txt")
    return console
