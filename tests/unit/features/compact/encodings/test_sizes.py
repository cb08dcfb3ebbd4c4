"""What deltas save, and how much memory the codec takes."""

import json
import subprocess
import sys

import pytest

from frepo_core.features.compact.encoder.anchors import Anchors
from support.encodings.nights import nights
from support.encodings.objects import EncodedObjects
from support.paths import TESTS
from support.scale import IS_BIG, only_in_long_form

MIB = 1 << 20


@pytest.mark.costly
def test_a_delta_of_a_night_needs_anchors_and_long_distance_matching():
    """Measured: 1/91 of what zstd makes of the night alone. Without either of the two, the same as zstd alone."""
    older, newer = nights(2, 80_000)
    # Another table has grown by 11 MB, so that nothing is where it was.
    newer = b"".join(nights(1, 110_000, seed=9)) + newer
    objects = EncodedObjects()

    alone = len(objects.objects[objects.add(older)])
    delta = len(objects.objects[objects.add(older, objects.add_raw(newer))])

    assert delta < alone / 50
    assert older == objects.open(objects.add(older, objects.add_raw(newer))).read()


def test_anchors_are_bounded_and_still_find_the_place():
    (content,) = nights(1, 60_000)
    anchors = Anchors(most=60)
    for start in range(0, len(content), MIB):
        anchors.add(content[start : start + MIB], start)
    anchors.sort()

    assert 10 < len(anchors) <= 60
    assert 700_000 == anchors.find_shift(content[3 * MIB - 1000 : 5 * MIB], 3 * MIB - 1000 - 700_000)


def test_chunks_that_occur_twice_say_nothing_about_the_place():
    (content,) = nights(1, 10_000)
    anchors = Anchors(most=1000)
    for start in range(0, 20 * len(content), len(content)):
        anchors.add(content + bytes(MIB), start)
    anchors.sort()

    assert anchors.find_shift(content, 0) is None
    assert anchors.find_shift(bytes(MIB), 0) is None


def measure(how, folder, size):
    command = [sys.executable, "-m", "support.encodings.memory", how, str(folder), str(size)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    return json.loads(done.stdout)


@pytest.mark.costly
@pytest.mark.parametrize("how", ["unlike", pytest.param("alike", marks=only_in_long_form)])
def test_encoding_takes_128_mib_at_most_and_decoding_64(how, tmp_path):
    """A chain of five: its newest is compressed, so the oldest is decoded through four others."""
    grown = measure(how, tmp_path, (200 if IS_BIG else 12) * MIB)

    assert grown["encoding"] < 128 * MIB
    assert grown["decoding"] < 64 * MIB


@only_in_long_form
def test_the_size_of_contents_does_not_matter(tmp_path):
    """20 GiB, sparse, with a piece of 8 MiB in each GiB that changes a little."""
    grown = measure("sparse", tmp_path, 20 << 30)

    assert grown["encoding"] < 128 * MIB
    assert grown["decoding"] < 64 * MIB
    assert grown["deltas"] < 20 * MIB
