"""What `python frepo-client.pyz` runs. Any Python can read this file, to say that it is too old for the others."""

import sys

from frepo_client import OLDEST_PYTHON

if sys.version_info < OLDEST_PYTHON:
    numbers = OLDEST_PYTHON + sys.version_info[:2]
    said = "frepo-client needs Python {}.{} or newer, and this is {}.{}, {}: run it with a newer one\n"
    sys.stderr.write(said.format(*(numbers + (sys.executable,))))
    sys.exit(2)

from frepo_client.cli import main

sys.exit(main())
