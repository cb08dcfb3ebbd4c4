"""What is requested of a new or an edited collection."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from typing import Any

from frepo_core.domain.structs import struct


@struct
class CollectionChange:
    """The requested values of a collection. None, or a missing entry, keeps the value or takes its default.

    `limits` and `guards` contain only the fields that the request names; the keys of `guards` are the fields of
    `Guards`. `strategy_options` replace all options of the strategy; another strategy begins with its defaults. An
    empty `password` removes the password. `expected_every` is a duration or cron with a time zone, empty: none. `grace`
    is a duration, empty: the default. `labels` replace all labels. `storage` is where versions are stored, empty: in
    the first storage. `mirror` is where their second copies are, `none`: nowhere, empty: where the service has them.
    `compact_group` lets versions become differences to those of others in it, empty: of no group.
    `trash_keep` is how long versions stay in the trash, a duration, empty: as long as the service says.
    `locked` is how long each version is locked; it can only be extended. `fleet_key` is its key in a fleet file.
    """

    limits: Mapping[str, int]
    guards: Mapping[str, Any] = field(default_factory=dict)
    strategy: str | None = None
    strategy_options: Mapping[str, Any] | None = None
    description: str | None = None
    filename: str | None = None
    password: str | None = field(default=None, repr=False)
    id: str | None = None
    expected_every: str | None = None
    grace: str | None = None
    labels: Sequence[str] | None = None
    storage: str | None = None
    mirror: str | None = None
    compact_group: str | None = None
    trash_keep: str | None = None
    locked: timedelta | None = None
    fleet_key: str | None = None
