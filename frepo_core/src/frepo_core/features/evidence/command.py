"""The command that writes reports: what was restored and what has arrived, for people who have to prove it."""

import argparse
from datetime import UTC, datetime

from frepo_core.cli.base import FrepoCommand
from frepo_core.errors import FieldsError

from .feature import EvidenceServices


class WriteReport(FrepoCommand):
    """Write a report that proves to others what can be restored, or on which nights the backups of each host came."""

    examples = (
        "frepo report restores --since 2026-08-01 -o restores.html",
        "frepo report nights --format csv",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "report",
            choices=("restores", "nights", "key"),
            help="restores, nights by host, or the public key",
        )
        parser.add_argument("--since", metavar="TIME", help="e.g. 2026-08-01 (UTC); default: 30 days, or last month")
        parser.add_argument("--until", metavar="TIME", help="default: now, or the end of last month")
        parser.add_argument(
            "-f", "--format", choices=("html", "csv", "json"), help="default: by the file's ending, else html"
        )
        parser.add_argument("-o", "--output", metavar="FILE", default="-", help="default: stdout")
        parser.add_argument("--force", action="store_true", help="replace a file that exists")

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Write the report."""
        from frepo_core.cli.transfers.streams import target

        from .formats import FORMATS

        ending = arguments.output.rpartition(".")[2].lower()
        write, _ = FORMATS[arguments.format or (ending if ending in FORMATS else "html")]
        if arguments.report == "key":
            self.say(self.services().feature(EvidenceServices).reports.key.public)
            return
        times = {name: _time(f"--{name}", getattr(arguments, name)) for name in ("since", "until")}
        reports = self.services().feature(EvidenceServices).reports
        is_json = write is FORMATS["json"][0]
        of_restores = arguments.report == "restores"
        report = reports.restores(**times, proof=is_json) if of_restores else reports.nights(**times)
        with target(arguments.output, replaces=arguments.force, option="--output") as file:
            for part in write(report):
                file.write(part)


def _time(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise FieldsError({option: [f"{text!r} is not a time such as 2026-08-01"]}) from None
    return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
