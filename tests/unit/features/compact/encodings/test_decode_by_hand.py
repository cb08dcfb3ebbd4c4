"""The script of the documentation decodes chains without frepo."""

import subprocess
import sys

import pytest

from support.encodings.nights import nights
from support.encodings.objects import EncodedObjects, sha256
from support.paths import ROOT

SCRIPT = ROOT / "docs/decode_by_hand.py"


@pytest.fixture
def storage(tmp_path):
    """A storage whose three oldest nights are deltas; the newest is raw, and one is raw and looks encoded.

    The oldest has several windows for a segment.
    """
    objects, contents = EncodedObjects(64 << 10), list(nights(4, 3000))
    digests = [objects.add_raw(contents[3])]
    for content in reversed(contents[1:3]):
        digests.append(objects.add(content, digests[-1]))
    digests.append(objects.add(contents[0][100_000:] + contents[0][:100_000], digests[-1], has_windows=True))
    digests += [objects.add(b""), objects.add_raw(objects.objects[digests[-1]])]
    for digest, stored in (objects.objects | objects.raw).items():
        path = tmp_path / "storage" / digest[:2] / f"{digest}-0123456789abcdef"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stored)
    return tmp_path / "storage", digests


def run(storage, digest, target):
    script = f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    code = f"{script}; import sys; assert 'frepo_core' not in sys.modules"
    command = [sys.executable, "-I", "-c", code, str(storage), digest, str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_contents_at_each_depth_are_written(storage, tmp_path):
    folder, digests = storage
    # The deepest one writes all those below it on its way.
    for number, digest in ((3, digests[3]), (4, digests[4]), (5, digests[5])):
        done = run(folder, digest, tmp_path / str(number))
        assert (0, "") == (done.returncode, done.stderr)
        assert digest == sha256((tmp_path / str(number)).read_bytes())
    assert {"storage", "3", "4", "5"} == {path.name for path in tmp_path.iterdir()}


def test_a_damaged_segment_is_named(storage, tmp_path):
    folder, digests = storage
    (path,) = folder.glob(f"*/{digests[1]}-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

    done = run(folder, digests[3], tmp_path / "target")

    assert done.returncode
    assert f"The content {digests[1]} cannot be written: {path}: segment" in done.stderr


def test_a_link_in_place_of_the_target_is_not_followed(storage, tmp_path):
    folder, digests = storage
    other = tmp_path / "other"
    other.write_bytes(b"kept")
    for target in (tmp_path / "target", tmp_path / "target.base"):
        target.symlink_to(other)

    done = run(folder, digests[1], tmp_path / "target")

    assert (0, "") == (done.returncode, done.stderr)
    assert b"kept" == other.read_bytes()
    assert digests[1] == sha256((tmp_path / "target").read_bytes())
    assert 0o600 == (tmp_path / "target").lstat().st_mode & 0o777
    assert {"storage", "other", "target"} == {path.name for path in tmp_path.iterdir()}
