"""The performance page is generated from the results, and reports correctly whether a target is met."""

import json

from support.paths import ROOT

PAGE = (ROOT / "docs/performance-figures.md").read_text()
RESULTS = json.loads((ROOT / "benchmarks/results.json").read_text())
ROWS = RESULTS["rows"]


def line_of(row):
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {row['name']} |")]
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def met(row):
    if row["reach"] is None:
        return ""
    return "yes" if is_met(row) else "**no**"


def is_met(row):
    return row["ratio"] <= row["reach"] if row["is_most"] else row["ratio"] >= row["reach"]


def has_a_median(row):
    return row["unit"] == "B" or min(len(row["ours"]), len(row["theirs"])) >= 5 or "1 connections" in row["name"]


def test_each_figure_is_on_the_page():
    assert [] == [row["name"] for row in ROWS if f"{row['ratio']:.2f}" != line_of(row)[1]]


def test_a_missed_target_is_reported():
    assert [] == [row["name"] for row in ROWS if met(row) != line_of(row)[3]]


def test_medians_are_of_five_or_more_but_for_bytes():
    assert [] == [row["name"] for row in ROWS if not has_a_median(row)]


def test_each_peer_is_on_the_page_with_its_settings():
    assert [] == [peer["name"] for peer in RESULTS["peers"] if f"- {peer['name']}: {peer['settings']}" not in PAGE]


def test_the_plots_are_there():
    names = ("performance.png", "performance-peers.png", "performance-compact.png")
    assert [] == [name for name in names if not (ROOT / "docs" / name).exists() or f"]({name})" not in PAGE]
