"""Writes docs/performance-figures.md and its plots from results.json."""

import json
import statistics
from pathlib import Path
from typing import Any

from .measure import Row

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/performance-figures.md"
BEGIN, END = "<!-- made by `make bench-full` -->", "<!-- end -->"
TITLES = {
    "uploads": "Large uploads",
    "sessions": "Uploads in parts",
    "transfers": "Large files",
    "small": "Small requests",
    "many_clients": "Many clients",
    "growth": "What must not grow",
    "cockpit": "What an operator asks, many rows : few",
    "stores": "S3",
    "sealed": "A sealed storage",
    "night": "The night",
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
        if group == "compact" and results.get("series"):
            parts.append(_series(results["series"]))
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
        f"Commit {machine['commit']}, measured on {machine['day']}, {machine['form']} form: {machine['processor']}, "
        f"{machine['cores']} cores, "
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


def _series(series: list[dict[str, Any]]) -> str:
    """Return the table of the series of real dumps, and draw it."""
    lines = ["| Series | Program | Stored MB | Restore of the newest, middle, oldest, MB/s | Stored, MB/s | Memory |"]
    lines.append("|---|---|---|---|---|---|")
    for one in series:
        night = one["size"] / one["nights"] / 1e6
        for program, found in one["found"].items():
            stored = f"{found['stored'] / 1e6:,.0f}" + (f" ({found['raw'] / 1e6:,.0f})" if "raw" in found else "")
            restore = ", ".join(f"{night / seconds:,.0f}" for seconds in found["restore"].values())
            memory = f"{found['memory'] >> 20} MiB" if found.get("memory") else ""
            name = f"{one['nights']} nights of {one['name']}, {one['size'] / 1e6:,.0f} MB"
            speed = f"{one['size'] / 1e6 / found['seconds']:,.0f}"
            if "upload" in found:
                speed += f" ({one['size'] / 1e6 / (found['seconds'] - found['upload']):,.0f})"
            lines.append(f"| {name} | {program} | {stored} | {restore} | {speed} | {memory} |")
    _plot_of_series(series)
    note = (
        "Speeds are megabytes for each second of processor time. In brackets: with `compact.newest = raw`. The speed "
        "of storing has the upload, each encoding and each read-back; in brackets: without the "
        "upload. The memory is that of the process that encodes. "
        "Each was measured once."
    )
    return "\n".join(lines) + f"\n\n{note}\n\n![Compact storage, restic and borg](performance-compact.png)"


def _plot_of_series(series: list[dict[str, Any]]) -> None:
    """Draw what each program stores, in percent of all bytes, and how fast it restores each night."""
    figure, axes = _pyplot().subplots(2, len(series), figsize=(3.4 * len(series), 5), squeeze=False)
    for one, above, below in zip(series, axes[0], axes[1], strict=True):
        programs, night = list(one["found"]), one["size"] / one["nights"] / 1e6
        above.bar(programs, [100 * found["stored"] / one["size"] for found in one["found"].values()], color="#58a")
        above.set_title(f"{one['nights']} nights of {one['name']}: stored, % (less is better)", fontsize=8)
        for place, age in enumerate(("newest", "middle", "oldest")):
            speeds = [night / found["restore"][age] for found in one["found"].values()]
            places = [number + place * 0.27 for number in range(len(programs))]
            below.bar(places, speeds, width=0.25, label=age)
        below.set_xticks([number + 0.27 for number in range(len(programs))], programs)
        below.set_title("restore, MB for each second of a core", fontsize=8)
        below.legend(fontsize=7)
    _save(figure, "performance-compact.png")


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
