"""What `python frepo-client.pyz` runs. Any Python can read this file, to say that it is too old for the others."""

import sys

from frepo_client import OLDEST_PYTHON


def main():  # noqa: ANN201  # and no annotation, which an old Python cannot read
    # type: () -> int
    """Run the command line and return the exit status."""
    if sys.version_info < OLDEST_PYTHON:
        numbers = OLDEST_PYTHON + sys.version_info[:2]
        said = "frepo-client needs Python {}.{} or newer, and this is {}.{}, {}: run it with a newer one\n"
        sys.stderr.write(said.format(*(numbers + (sys.executable,))))
        return _failed(2)
    try:
        from frepo_client.cli import main as run
    except Exception as error:  # noqa: BLE001  # PostgreSQL looks at the status, whatever the error
        sys.stderr.write("frepo-client cannot be loaded: {}\n".format(error))  # noqa: UP032
        return _failed(2)
    return run()


def _failed(status):  # noqa: ANN001, ANN202
    # type: (int) -> int
    """Return the exit status: PostgreSQL takes 1 to 125 of its restore_command for the end of the archive."""
    return 128 + status if "wal" in sys.argv and "fetch" in sys.argv else status


if __name__ == "__main__":
    sys.exit(main())
