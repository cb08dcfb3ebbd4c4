"""Doctor names text columns of MariaDB that cannot store every text."""

import pytest
from sqlalchemy import text

from frepo_core.features.doctor.data import check_database

pytestmark = pytest.mark.databases("mariadb")


def narrow(services):
    return [finding for finding in check_database(services) if "character set" in finding.message]


def test_columns_that_cannot_store_every_text_are_a_problem(services):
    with services.database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE narrow_test (a TEXT CHARACTER SET latin1)"))
    [finding] = narrow(services)
    with services.database.engine.begin() as connection:
        connection.execute(text("DROP TABLE narrow_test"))

    assert ("problem", "Run `frepo db:upgrade`") == (finding.level, finding.remedy)
    assert "1 text columns have not the character set utf8mb4, such as narrow_test.a" in finding.message
    assert [] == narrow(services)
