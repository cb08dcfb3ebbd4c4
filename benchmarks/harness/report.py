"""Writes docs/performance.md and its plots from results.json."""

import json
import statistics
from pathlib import Path
from typing import Any

from .measure import Row

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/performance.md"
BEGIN, END = "<!-- made by `make bench-full` -->", "<!-- end -->"
TITLES = {
    "uploads": "Large uploads",
    "transfers": "Large files",
    "small": "Small requests",
    "many_clients": "Many clients",
    "growth": "What must not grow",
    "cockpit": "What an operator asks, many rows : few",
    "stores": "S3",
    "memory": "Memory",
    "compact": "Compact storage",
    "console": "Starting",
}


def write(path: Path) -> None:
    """Replace the tables and plots of the page; the text around them is kept."""
    results = json.loads(path.read_text())
    rows = [Row(**row) for row in results["rows"]]
    parts = [_plot_of_rows(rows)]
    for group, title in TITLES.items():
        if mine := [row for row in rows if row.group == group]:
            parts.append(f"### {title}\n\n{_machine(results['machines'][group])}\n\n{_table(mine)}")
    if results["peers"]:
        parts.append(f"### Side by side\n\n{_machine(results['machines']['peers'])}\n\n{_peers(results['peers'])}")
    if results["skipped"]:
        parts.append("Not measured: " + "; ".join(f"{name} ({why})" for name, why in results["skipped"].items()) + ".")
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(parts) + f"\n\n{END}{after}")


def _machine(machine: dict[str, str]) -> str:
    return (
        f"Measured on {machine['day']}, {machine['form']} form: {machine['processor']}, {machine['cores']} cores, "
        f"{machine['disk']}, {machine['system']}, Python {machine['python']}; the load average at the end was "
        f"{machine['load']}."
    )


def _table(rows: list[Row]) -> str:
    lines = ["| What : against what | Ratio | Reach | Met | Ours | Theirs |", "|---|---|---|---|---|---|"]
    for row in rows:
        reach = "" if row.reach is None else f"{'at most' if row.is_most else 'at least'} {row.reach:g}"
        met = {None: "", True: "yes", False: "**no**"}[row.is_met]
        ours, theirs = (_value(statistics.median(one), row.unit) for one in (row.ours, row.theirs))
        lines.append(f"| {row.name} | {row.ratio:.2f} | {reach} | {met} | {ours} | {theirs} |")
    return "\n".join(lines)


def _value(value: float, unit: str) -> str:
    if unit == "B":
        return f"{value / (1 << 20):.0f} MiB"
    if unit == "s":
        return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:,.0f}{'' if unit.startswith('/') else ' '}{unit}"


def _peers(peers: list[dict[str, Any]]) -> str:
    size = peers[0]["size"] >> 20
    heads = {
        "upload MB/s": f"upload of {size} MiB, MB/s",
        "download MB/s": f"download of {size} MiB, MB/s",
        "4 KiB up /s": "4 KiB up, /s",
        "4 KiB up synced /s": "the same, synced, /s",
        "4 KiB down /s": "4 KiB down, /s",
        "list s": f"list of {peers[0]['listed']:,}, s",
    }
    kinds = [kind for kind in heads if any(kind in peer for peer in peers)]
    head = [heads[kind] for kind in kinds]
    lines = ["| Server | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]
    for peer in peers:
        values = [f"{peer[kind]:,.{int('list' in kind)}f}" if kind in peer else "" for kind in kinds]
        lines.append(f"| {peer['name']} | " + " | ".join(values) + " |")
    settings = "\n".join(f"- {peer['name']}: {peer['settings']}" for peer in peers)
    _plot_of_peers(peers, kinds)
    return "\n".join(lines) + f"\n\n{settings}\n\n![Side by side](performance-peers.png)"


def _plot_of_rows(rows: list[Row]) -> str:
    """Draw each ratio as a share of its goal (reach), on a logarithmic scale; a share below 1 meets the goal."""
    pyplot = _pyplot()
    held = [row for row in reversed(rows) if row.reach is not None]
    shares = [row.ratio / row.reach if row.is_most else row.reach / row.ratio for row in held if row.reach]
    figure, axes = pyplot.subplots(figsize=(10, 0.3 * len(held) + 1))
    axes.barh([row.name for row in held], shares, color=["#4a7" if share <= 1 else "#c64" for share in shares])
    axes.axvline(1, color="black", linewidth=1)
    axes.margins(y=0.01)
    axes.set_xscale("log")
    axes.set_xlabel("share of the reach that is used up; to the right of 1 it is missed")
    _save(figure, "performance.png")
    return "![How far each reach is met](performance.png)"


def _plot_of_peers(peers: list[dict[str, Any]], kinds: list[str]) -> None:
    figure, axes = _pyplot().subplots(1, len(kinds), figsize=(14, 3.2))
    for kind, one in zip(kinds, axes, strict=True):
        one.bar([peer["name"].split()[0] for peer in peers], [peer.get(kind, 0) for peer in peers], color="#58a")
        one.set_title(kind + (" (less is better)" if "list" in kind else ""), fontsize=9)
        one.tick_params(axis="x", rotation=45, labelsize=8)
    _save(figure, "performance-peers.png")


def _save(figure: Any, name: str) -> None:
    figure.tight_layout()
    figure.savefig(DOCUMENT.with_name(name), dpi=90, metadata={"Software": None})


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    return pyplot
