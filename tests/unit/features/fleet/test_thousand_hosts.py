"""A fleet of a thousand hosts: a run costs a hundred times what one for ten hosts costs, and a second one little."""

import pytest

from support.costs.counter import Counter
from support.costs.fleets import apply_hosts


@pytest.fixture
def counted(services):
    """Count the statements and the calls of a run."""
    counter = Counter()
    counter.watch(services.database.engine)
    yield lambda names: counter.count(lambda: apply_hosts(services, names))
    counter.unwatch(services.database.engine)


def hosts(count, prefix="host"):
    return [f"{prefix}-{number}" for number in range(count)]


@pytest.mark.slow
@pytest.mark.costly
def test_a_thousand_hosts_cost_a_hundred_times_what_ten_cost(services, counted):
    counted(hosts(10, "warm"))
    few, many = counted(hosts(10)), counted(hosts(1000, "many"))

    again = counted(hosts(1000, "many"))

    assert many.statements <= 100 * few.statements
    assert many.calls <= 110 * few.calls
    assert again.statements <= 20
    assert 0 == apply_hosts(services, hosts(1000, "many"))
    print(f"\n10 hosts: {few}\n1000 hosts: {many}\nagain: {again}")  # for the page about performance
