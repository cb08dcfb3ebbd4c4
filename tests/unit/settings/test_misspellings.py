"""Environment variables that resemble a setting."""

import logging

import pytest

from frepo_core.settings import load_settings
from frepo_core.settings.misspellings import is_within


def test_names_are_compared_by_their_edit_distance():
    for one, other, distance in [
        ("", "", 0),
        ("DATABASE_URL", "DATABASE_URL", 0),
        ("DATABSE_URL", "DATABASE_URL", 1),
        ("DATABASE_URLS", "DATABASE_URL", 1),
        ("DATABASE_URI", "DATABASE_URL", 1),
        ("ATABASE_URL", "DATABASE_URL", 1),
        ("DATABASE_ULR", "DATABASE_URL", 2),
        ("DATABASEURLS", "DATABASE_URL", 2),
        ("DTABSE_URL", "DATABASE_URL", 2),
        ("DATABASE", "DATABASE_URL", 4),
        ("DB_URL", "DATABASE_URL", 6),
    ]:
        assert [limit >= distance for limit in range(4)] == [is_within(one, other, limit) for limit in range(4)]
        assert [limit >= distance for limit in range(4)] == [is_within(other, one, limit) for limit in range(4)]


@pytest.fixture
def warnings(caplog, tmp_path):
    def warnings(**environment):
        with caplog.at_level(logging.WARNING):
            load_settings({"app.env": "dev", "app.secrets_file": str(tmp_path / "secrets.json")}, environment)
        return [record.getMessage() for record in caplog.records]

    return warnings


def test_a_misspelt_variable_is_named_without_its_value(warnings):
    assert warnings(APP_DOMIAN="s3cret.example") == [
        "The environment variable APP_DOMIAN is not a setting of frepo. Did you mean APP_DOMAIN?"
    ]


def test_other_variables_are_not_warned_about(warnings):
    assert [] == warnings(
        PATH="/bin", HOME="/root", APP_DOMAIN="a.example", APP_DOMIAN="", HTTP_PROXY="x", TERM="xterm"
    )
