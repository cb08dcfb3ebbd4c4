"""A reader that cannot begin is collected without a further error: Python closes it, also if it has not begun."""

import subprocess
import sys

SCRIPT = """
import gc
from io import BytesIO

from frepo_core.services.content.decoding.decoded_stream import DecodedStream
from frepo_core.features.compact.encodings.decoder import DecodedContent
from frepo_core.services.content.seekable_content import seekable_content


def fail(*_):
    raise OSError("no route")


for begin in (
    lambda: DecodedStream(BytesIO(), "unknown", None),
    lambda: DecodedContent(BytesIO(b"damaged" * 100), digest="0" * 64, open_base=fail),
    lambda: seekable_content(fail, 1),
):
    try:
        begin()
    except Exception as error:
        print(type(error).__name__)
gc.collect()
"""


def test_a_reader_that_cannot_begin_says_nothing_else():
    # From Python 3.13 on, everybody sees what is wrong at the end of a file object; before, only in this mode.
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, check=False
    )

    assert ("FieldsError\nDamagedObjectError\nOSError\n", "") == (done.stdout, done.stderr)
