"""The answer of `frepo status` as a page for a mail: its styles are inline, as mail programs drop others."""

from collections.abc import Sequence
from datetime import datetime
from html import escape

from frepo_core.services.backups.collections.states import Severity

from ..status import StatusLine

_WORDS = {Severity.OK: "ok", Severity.WARNING: "warning", Severity.CRITICAL: "critical"}
_COLOURS = {Severity.OK: "#0b7547", Severity.WARNING: "#855300", Severity.CRITICAL: "#bf2318"}
# A long name of a collection breaks, so that a phone shows the details, too.
_CELL = "padding:6px 10px;border-top:1px solid #dfe2e8;text-align:left;vertical-align:top;overflow-wrap:anywhere"


def render(lines: Sequence[StatusLine], *, host: str, at: datetime) -> str:
    """Return the page: one sentence, and a table with the worst line first."""
    worst = max((line.severity for line in lines), default=Severity.OK)
    bad = sum(line.severity is not Severity.OK for line in lines)
    title = "All is well" if not bad else f"{bad} {'line needs' if bad == 1 else 'lines need'} attention"
    rows = "\n".join(_row(line) for line in sorted(lines, key=lambda line: -line.severity))
    when = f"{at:%Y-%m-%d %H:%M} UTC"
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(host)}: {title}</title></head>
<body style="font-family:sans-serif;font-size:14px;color:#15181e">
<h1 style="font-size:20px;color:{_COLOURS[worst]}">{title}</h1>
<p style="color:#434b59">frepo on {escape(host)}, {when}</p>
<table style="border-collapse:collapse">
<tr><th style="{_CELL}">What</th><th style="{_CELL}">State</th><th style="{_CELL}">Details</th></tr>
{rows}
</table>
</body>
</html>
"""


def _row(line: StatusLine) -> str:
    state = f'<b style="color:{_COLOURS[line.severity]};white-space:nowrap">{_WORDS[line.severity]}</b>'
    cells = (escape(line.subject), state, escape(line.text) or "no problem")
    return "<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells) + "</tr>"
