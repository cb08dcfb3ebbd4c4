"""An archive of WAL in a whole service."""

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Shop:
    """The archive of a cluster, and the collection of its base backups."""

    service: Any
    wal: str
    base: str

    @property
    def path(self):
        return f"/api/v1/collections/{self.wal}/wal"

    def put(self, file, content, **more):
        return self.service.request("PUT", f"{self.path}/{file}", content, **more)

    def get(self, file, **more):
        return self.service.request("GET", f"{self.path}/{file}", **more)

    def status(self):
        return self.service.request("GET", self.path).json


@pytest.fixture
def make_shop(frepo_service):
    def make_shop(**options):
        base = frepo_service.make_collection(filename="shop.base", max_versions=3)
        wal = frepo_service.make_collection(
            filename="shop.wal", strategy="wal", strategy_options={"base": base, **options}, max_versions=0
        )
        return Shop(frepo_service, wal, base)

    return make_shop


@pytest.fixture
def shop(make_shop):
    return make_shop()
