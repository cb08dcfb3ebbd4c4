"""The table of `frepo plugins` fits on the terminal, and is sorted by any column."""

import json


def test_the_table_can_be_sorted_by_a_column_that_it_does_not_show(console):
    """As it could before these columns were hidden; each other format does it, too."""
    arguments = ["plugins", "--sort-column", "Entry point"]
    expected = [row["Name"] for row in json.loads(console.answer(*arguments, "-f", "json"))]
    lines = [line.split("|") for line in console.answer(*arguments, COLUMNS="400").splitlines()[3:-1]]

    assert expected == [cells[2].strip() for cells in lines if cells[1].strip()]


def test_chosen_columns_use_the_width_of_the_terminal(console):
    shown = console.answer("plugins", "-c", "Name", "-c", "What it is", COLUMNS="100")

    assert "Request notify.heartbeat while the service is healthy" in shown


def test_the_table_fits_on_a_terminal_of_the_usual_width(console):
    for columns in ["80", "100"]:
        widths = {len(line) for line in console.answer("plugins", COLUMNS=columns).splitlines()}

        assert max(widths) <= int(columns)
