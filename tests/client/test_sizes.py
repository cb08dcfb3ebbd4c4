"""The client writes sizes as the service and its web console do, although it shares no code with them."""

import tomllib

from frepo_client.reporter import size_text
from support.paths import ROOT

EXAMPLES = tomllib.loads((ROOT / "tests/support/sizes.toml").read_text())["examples"]


def test_sizes_have_three_digits_and_a_unit():
    assert EXAMPLES == [[size, size_text(size)] for size, _ in EXAMPLES]
