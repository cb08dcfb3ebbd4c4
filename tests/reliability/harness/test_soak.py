"""The soak's report: growth is reported, constant values are not, and the plot shows each measure."""

import os
import time
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from support.soak.plot import draw
from support.soak.samples import MEASURES, Sample, growth, take


def samples(**grows):
    """A hundred samples that are constant after a warm-up, except for values with a given growth."""
    flat = {"memory": 100.0, "threads": 12.0, "descriptors": 40.0, "disk": 50.0}
    return [
        Sample(
            seconds=index,
            **{name: value * min(1, 0.5 + index / 20) + index * grows.get(name, 0) for name, value in flat.items()},
        )
        for index in range(100)
    ]


def test_constant_values_after_a_warm_up_are_not_reported():
    assert [] == growth(samples())


@pytest.mark.parametrize("measure", MEASURES)
def test_growth_is_reported(measure):
    (said,) = growth(samples(**{measure: 0.5}))

    assert said.startswith(f"{measure} grew from ")


def test_connections_that_the_soak_holds_open_do_not_count_as_growth():
    calm = samples()
    held = [replace(sample, descriptors=sample.descriptors + 6) for sample in calm]

    assert [] == growth([*calm[:75], *held[75:]])


def test_a_disk_that_fills_until_a_sweep_does_not_grow():
    calm = samples()
    filling = [
        replace(sample, disk=sample.disk + index % 7 * (9 if index > 75 else 3)) for index, sample in enumerate(calm)
    ]

    assert [] == growth(filling)


def test_a_process_is_measured():
    sample = take(os.getpid(), time.monotonic(), 3 << 20)

    assert (3, True, True) == (sample.disk, sample.memory > 1, sample.descriptors >= 3)


def test_the_plot_has_a_line_for_each_measure():
    picture = ElementTree.fromstring(draw(samples(), "a title & more"))
    lines = [line.get("d") for line in picture.iter("{http://www.w3.org/2000/svg}path")]

    assert [len(samples())] * len(MEASURES) == [line.count(",") for line in lines]
