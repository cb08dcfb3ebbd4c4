"""Reads the YAML file of aliases; errors name the line."""

from pathlib import Path
from unicodedata import normalize

import yaml

from frepo_core.errors import ConfigurationError


def read_aliases(path: Path) -> dict[str, str]:
    """Return the stored names under their aliases in NFC. Raises `ConfigurationError` with the line of the error."""
    root = _compose(path)
    if root is None or root.tag == "tag:yaml.org,2002:null":
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise _broken(path, root.start_mark.line + 1, "a map `alias: stored name` is expected")
    aliases: dict[str, str] = {}
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or not isinstance(value, yaml.ScalarNode) or not value.value:
            raise _broken(path, line, "each line is `alias: stored name`")
        alias = normalize("NFC", key.value)
        if alias in aliases:
            raise _broken(path, line, f"the alias {alias!r} is defined twice")
        aliases[alias] = value.value
    return aliases


def _compose(path: Path) -> yaml.Node | None:
    """Parse the file into nodes without converting values, so texts such as `no` stay texts."""
    try:
        raw = path.read_bytes()
        return yaml.compose(raw.decode(), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _broken(path, line, error.problem or "it is not valid YAML") from error
    except yaml.reader.ReaderError as error:
        line = raw.decode().count("\n", 0, error.position) + 1
        raise _broken(path, line, error.reason) from error
    except UnicodeDecodeError as error:
        raise _broken(path, raw.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from error
    except RecursionError as error:
        raise _broken(path, 1, "it is nested too deeply") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise _broken(path, 1, str(error)) from error


def _broken(path: Path, line: int, problem: str) -> ConfigurationError:
    return ConfigurationError(f"ids_mapping.file (IDS_MAPPING_FILE): {path}, line {line}: {problem}.")
