"""The collections of the demonstration: what a company with some fifty servers would back up."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain
from random import Random
from typing import Literal

from frepo_core.services.backups.collections.states import BackupState

# A fourth of a kilobyte: small enough to be made in seconds.
UNIT = 250
DAY = timedelta(days=1)
EVERY = {"6h": DAY / 4, "1d": DAY, "7d": 7 * DAY, "30d": 30 * DAY}

# Name, description, label, expected every, size in units, growth in a year in percent.
_NAMED = """
shop-postgres.sql.gz          | Orders and customers of the web shop                | shop     | 1d  | 640 | 70
shop-uploads.tar.gz           | Product pictures                                    | shop     | 7d  | 900 | 40
shop-redis.tar.gz             | Carts and sessions                                  | shop     | 6h  | 24  | 10
erp-oracle.sql.gz             | Finance and stock                                   | erp      | 1d  | 780 | 30
erp-documents.tar.gz          | Scanned invoices                                    | erp      | 7d  | 990 | 90
crm-mysql.sql.gz              | Customers, offers, calls                            | crm      | 1d  | 190 | 50
crm-uploads.tar.gz            | Files that were attached to customers               | crm      | 7d  | 420 | 35
wiki-postgres.sql.gz          | The wiki's database                                 | wiki     | 1d  | 150 | 20
wiki-uploads.tar.gz           | Pictures and files of the wiki                      | wiki     | 7d  | 330 | 15
mail-01-vmail.tar.gz          | Mailboxes A to M                                    | mail     | 1d  | 810 | 25
mail-02-vmail.tar.gz          | Mailboxes N to Z                                    | mail     | 1d  | 760 | 25
mail-aliases.json             | Aliases and forwardings                             | mail     | 1d  | 6   | 5
gitea-repos.tar.gz            | All repositories, with their hooks                  | dev      | 1d  | 560 | 60
gitea-postgres.sql.gz         | Issues and reviews                                  | dev      | 1d  | 84  | 40
ci-runner-cache.tar.gz        | Only to start faster after a loss                   | dev      | 7d  | 300 | 0
registry-images.tar.gz        | Images that are not built any more                  | dev      | 30d | 980 | 10
jira-postgres.sql.gz          | Tickets                                             | office   | 1d  | 270 | 30
jira-attachments.tar.gz       | Files of tickets                                    | office   | 7d  | 640 | 30
nextcloud-db.sql.gz           | Shares, calendars, contacts                         | office   | 1d  | 98  | 20
nextcloud-data.tar.gz         | The files of all                                    | office   | 7d  | 995 | 45
scans-2026.zip                | Letters, scanned each evening                       | office   | 1d  | 120 | 200
hr-documents.zip              | Contracts and certificates                          | hr       | 7d  | 210 | 10
payroll-mssql.sql.gz          | Wages, kept for ten years                           | hr       | 30d | 230 | 12
billing-postgres.sql.gz       | Invoices and payments                               | billing  | 1d  | 480 | 55
billing-archive.zip           | Closed years                                        | billing  | 30d | 700 | 5
ldap-main.txt                 | The directory as LDIF                               | auth     | 1d  | 31  | 8
ldap-replica.txt              | The replica in the second room                      | auth     | 1d  | 31  | 8
keycloak-postgres.sql.gz      | Realms and users                                    | auth     | 1d  | 58  | 15
vault-raft.tar.gz             | Secrets, sealed                                     | auth     | 6h  | 44  | 12
etcd-prod.tar.gz              | The state of the production cluster                 | k8s      | 6h  | 72  | 18
etcd-stage.tar.gz             | The state of the staging cluster                    | k8s      | 1d  | 52  | 18
k8s-manifests.tar.gz          | What runs where                                     | k8s      | 1d  | 18  | 20
harbor-postgres.sql.gz        | The registry's database                             | k8s      | 1d  | 90  | 25
grafana-dashboards.json       | Dashboards and alerts                               | monitor  | 1d  | 46  | 15
prometheus-rules.tar.gz       | Alert rules                                         | monitor  | 7d  | 9   | 10
influx-sensors.tar.gz         | Temperatures of the cold store, since 2019          | monitor  | 1d  | 260 | 35
icinga-config.tar.gz          | What is watched                                     | monitor  | 7d  | 14  | 5
matomo-mysql.sql.gz           | Visits of the web sites                             | web      | 1d  | 240 | 65
wordpress-blog.tar.gz         | The blog with its database                          | web      | 1d  | 170 | 12
wordpress-press.tar.gz        | The press pages                                     | web      | 7d  | 130 | 6
search-opensearch.tar.gz      | The index; takes a day to build                     | web      | 7d  | 520 | 20
media-archive.tar.gz          | Videos of the fair, cut and uncut                   | media    | 7d  | 860 | 80
media-raw.tar.gz              | Photographs as the cameras made them                | media    | 30d | 950 | 60
cad-vault.zip                 | Drawings of all machines                            | cad      | 1d  | 610 | 22
plm-oracle.sql.gz             | Parts lists                                         | cad      | 1d  | 350 | 18
homeassistant.tar.gz          | Doors, lights, heating of the office                | building | 7d  | 36  | 10
doors-sqlite.tar.gz           | Badges and who entered                              | building | 1d  | 22  | 30
pbx-config.tar.gz             | The telephone system                                | building | 30d | 12  | 2
nas-photos.zip                | The company's album                                 | office   | 7d  | 400 | 30
zammad-postgres.sql.gz        | Requests of customers                               | support  | 1d  | 310 | 45
zammad-files.tar.gz           | What customers attached                             | support  | 7d  | 450 | 45
dns-zones.tar.gz              | All zones, signed                                   | network  | 6h  | 8   | 4
firewall-pf.txt               | Rules of both firewalls                             | network  | 1d  | 11  | 6
switch-core-config.txt        | Both core switches                                  | network  | 1d  | 15  | 2
dhcp-leases.json              | Who had which address                               | network  | 6h  | 5   | 3
printserver-etc.tar.gz        | Queues and drivers                                  | office   | 30d | 10  | 0
ansible-vault.tar.gz          | Playbooks with their secrets                        | dev      | 7d  | 16  | 14
loki-index.tar.gz             | The index of the logs                               | monitor  | 1d  | 140 | 30
ticketshop-mongo.tar.gz       | Tickets that were sold                              | shop     | 6h  | 66  | 50
analytics-clickhouse.tar.gz   | Aggregates of five years                            | web      | 7d  | 730 | 28
"""
_CUSTOMERS = (
    "acme-industries-gmbh-und-co-kg-warehouse-replica-eu-central-1",
    "beta-logistics",
    "cooperative-bakery-of-the-northern-valleys",
    "delta-print",
    "easy-dentist",
    "foto-nowak",
    "green-roof-gardens",
    "hotel-baltic-reservations",
)
_SERVERS = (("web", 9), ("db", 6), ("app", 5), ("mail", 2), ("backup", 2))
_ROUTERS = 8


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A collection of the demonstration: what it is, and how its backups arrive.

    `every` is a duration as people write it. `size` is that of its first version in bytes, `growth` in a year in
    percent. `unchanged` is the share of uploads that repeat the content before. `age` is how long ago it was created,
    `lateness` how late its last upload is (negative: the next one is due in that time). `keep` has the rules of the
    strategy of this name, empty for another strategy. With a `pin_note` the oldest version is pinned. `last` says what
    is special about the last upload: it was cut, its verdict is pending, or a restore test has loaded it.
    """

    name: str
    description: str
    labels: tuple[str, ...]
    every: str
    size: int
    growth: int
    unchanged: float = 0.0
    age: timedelta = 365 * DAY
    grace: str = "2h"
    limit: int = 6
    state: BackupState = BackupState.OK
    lateness: timedelta = -DAY / 2
    sender: str = ""
    guards: dict[str, object] = field(default_factory=dict)
    keep: dict[str, int] = field(default_factory=dict)
    pin_note: str = ""
    last: Literal["", "cut", "pending", "restored"] = ""

    @property
    def interval(self) -> timedelta:
        """The time between two uploads."""
        return EVERY[self.every]


def make_plans(number: int, random: Random) -> list[Plan]:
    """Return the plans of this number of collections. The first ones have one of each state, and of most verdicts."""
    plans = list(chain(_named(), _customers(), _servers(), _routers()))
    troubled = [_with_state(plan) for plan in plans]
    troubled.sort(key=lambda plan: plan.state is BackupState.OK and not plan.last)
    return [_with_history(plan, random) for plan in _repeat(troubled, number)]


def _repeat(plans: Sequence[Plan], number: int) -> Iterator[Plan]:
    """Yield this number of plans. Repetitions have a number in the name, as other branches of the company."""
    for place in range(number):
        branch, plan = divmod(place, len(plans))
        one = plans[plan]
        yield replace(one, name=f"branch-{branch}-{one.name}") if branch else one


def _named() -> Iterator[Plan]:
    for line in _NAMED.strip().splitlines():
        name, description, label, every, size, growth = (part.strip() for part in line.split("|"))
        small = int(size) < 50
        yield Plan(
            name=name,
            description=description,
            labels=("test" if "stage" in name or "cache" in name else "prod", label),
            every=every,
            grace="2h" if every in {"6h", "1d"} else "1d",
            size=int(size) * UNIT,
            growth=int(growth),
            unchanged=0.4 if small else 0.0,
            sender=f"{re.split('[-.]', name)[0]}-backup",
        )


def _customers() -> Iterator[Plan]:
    for place, customer in enumerate(_CUSTOMERS):
        yield Plan(
            name=f"customer-{417 + 31 * place:04}-{customer}.sql.gz",
            description=f"Hosted for {customer.replace('-', ' ').title()}",
            labels=("customer", "prod"),
            every="1d",
            size=(60 + 45 * place) * UNIT,
            growth=20 + 5 * place,
            sender=f"customer-{417 + 31 * place:04}-uploader",
        )


def _servers() -> Iterator[Plan]:
    for kind, count in _SERVERS:
        for number in range(1, count + 1):
            host = f"{kind}-{number:02}"
            yield Plan(
                name=f"{host}-etc.tar.gz",
                description=f"/etc of {host}",
                labels=("config", kind),
                every="1d",
                size=(14 + 3 * number) * UNIT,
                growth=6,
                unchanged=0.7,
                sender=f"{host} cron",
            )


def _routers() -> Iterator[Plan]:
    for number in range(1, _ROUTERS + 1):
        yield Plan(
            name=f"router-{number:02}-config.txt",
            description=f"Router {number}, room {1 + number % 3}",
            labels=("config", "network"),
            every="7d",
            grace="1d",
            size=(7 + number) * UNIT,
            growth=3,
            unchanged=0.8,
            limit=4,
            sender="router-collector",
        )


# Of no use any more: deleted lately, and still in the trash.
RETIRED = Plan(
    name="old-intranet.tar.gz",
    description="Replaced by the wiki",
    labels=("prod", "wiki"),
    every="30d",
    size=120 * UNIT,
    growth=0,
    age=130 * DAY,
    lateness=-5 * DAY,
    sender="old-intranet-backup",
)
_SHRINKS = {"max_shrink_percent": 50, "action": "mark"}
# The collections that are not well, and why.
_TROUBLED: dict[str, dict[str, object]] = {
    "erp-oracle.sql.gz": {"state": BackupState.DAMAGED},
    "mail-01-vmail.tar.gz": {"state": BackupState.OVERDUE, "lateness": timedelta(days=2, hours=6)},
    "customer-0417-acme-industries-gmbh-und-co-kg-warehouse-replica-eu-central-1.sql.gz": {
        "state": BackupState.OVERDUE,
        "lateness": timedelta(hours=7),
    },
    "media-archive.tar.gz": {
        "state": BackupState.FULL,
        "limit": 12,
        "age": 94 * DAY,
        "lateness": timedelta(hours=2) - 7 * DAY,
    },
    "shop-postgres.sql.gz": {
        "state": BackupState.SUSPICIOUS,
        "guards": _SHRINKS,
        "limit": 24,
        "age": 18 * DAY,
        "lateness": -DAY / 4,
    },
    "crm-mysql.sql.gz": {
        "state": BackupState.SUSPICIOUS,
        "guards": {**_SHRINKS, "action": "quarantine"},
        "limit": 24,
        "age": 18 * DAY,
        # One in quarantine is no backup, so the one before must not be overdue.
        "lateness": -timedelta(hours=23),
    },
    "wiki-postgres.sql.gz": {"state": BackupState.FAILED, "age": 200 * DAY},
    "jira-postgres.sql.gz": {
        "state": BackupState.FAILED,
        "last": "cut",
        "age": 160 * DAY,
        # Neither is a broken one a backup.
        "lateness": -timedelta(hours=23),
    },
    "keycloak-postgres.sql.gz": {"last": "pending"},
    "billing-archive.zip": {"last": "restored"},
    "gitea-repos.tar.gz": {"state": BackupState.LATE, "lateness": timedelta(minutes=44)},
    "dns-zones.tar.gz": {"state": BackupState.LATE, "lateness": timedelta(minutes=12)},
    "nas-photos.zip": {"state": BackupState.NEW, "age": timedelta(hours=20)},
}
# The collections whose strategy is `keep`. There is room for more than its rules keep.
_KEPT: dict[str, dict[str, object]] = {
    "shop-uploads.tar.gz": {"keep": {"weekly": 6, "monthly": 12}, "pin_note": "Before the move to the new shop"},
    "billing-postgres.sql.gz": {"keep": {"daily": 7, "weekly": 4, "monthly": 12}, "pin_note": "The audit of last year"},
    "ldap-main.txt": {"keep": {"last": 3, "daily": 7, "weekly": 4}},
}
_KEPT_LIMIT = 40


def _with_state(plan: Plan) -> Plan:
    if plan.name in _KEPT:
        return replace(plan, limit=_KEPT_LIMIT, **_KEPT[plan.name])  # type: ignore[arg-type]
    return replace(plan, **_TROUBLED.get(plan.name, {}))  # type: ignore[arg-type]


def _with_history(plan: Plan, random: Random) -> Plan:
    """Choose how old the collection is and when its next backup is due, most of them at night."""
    if "age" in _TROUBLED.get(plan.name, {}):
        return plan
    age = timedelta(days=365 - random.choice((0, 0, 0, 0, 40, 95, 160, 230)), hours=random.random() * 6)
    if plan.state is not BackupState.OK or plan.lateness != -DAY / 2:
        return replace(plan, age=age)
    due_in = min(max(random.gauss(0.65, 0.2), 0.03), 0.97) * plan.interval
    return replace(plan, age=age, lateness=-due_in)
