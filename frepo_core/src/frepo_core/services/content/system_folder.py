"""The folder of the system for temporary files."""

import tempfile

from frepo_core.errors import ConfigurationError


def system_folder() -> str:
    """Return the folder of the system for temporary files. Raises `ConfigurationError` if none can be written."""
    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise ConfigurationError(
            f"No folder for temporary files can be written ({error.strerror}): name one with room for all uploads that "
            "arrive at the same time in temp_directory (TEMP_DIRECTORY)"
        ) from error
