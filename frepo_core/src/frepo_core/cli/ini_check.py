"""Finds what is wrong in an ini file, and where. No value is shown that may be a secret."""

import configparser
import difflib
import logging
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from pathlib import Path

from frepo_core.errors import ConfigurationError

APP, SERVER = "app:main", "server:main"
# What `use` names in these sections, if the file is written for frepo, and the groups of entry points that fit.
_USES = {APP: "egg:frepo-core", SERVER: "egg:frepo-server#waitress"}
_GROUPS = {
    APP: ("paste.app_factory", "paste.composite_factory", "paste.composit_factory"),
    SERVER: ("paste.server_runner", "paste.server_factory"),
}
_OTHER_KINDS = {APP: ("application:main", "composite:main", "composit:main", "pipeline:main", "filter-app:main")}
_EGG = re.compile(r"egg:([^#\s]+)(?:#(\S+))?")
_REFERENCE = re.compile(r"%\(([^)]*)\)s|%%|%")
_PERCENT = "Write %% for a percent sign"


class IniFile:
    """The text of an ini file, parsed. Raises `ConfigurationError` that names the line if it cannot be."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = self._read()
        self._parser = configparser.ConfigParser(interpolation=None, default_section="DEFAULT")
        self._parser.optionxform = str  # type: ignore[method-assign,assignment]
        self._parse()

    def check_app(self) -> None:
        """Check that there are settings of the service."""
        self._require(APP)
        self._check_percents(APP)

    def check_to_serve(self) -> None:
        """Check all that a server reads. Without [server:main], another program serves."""
        self.check_app()
        if difflib.get_close_matches(SERVER, self._parser.sections(), n=1, cutoff=0.8):
            self._require(SERVER)
        self._check_percents(SERVER)
        for section in (APP, SERVER):
            if self._parser.has_section(section):
                self._check_use(section)
        if self._parser.has_section("loggers"):
            self._check_logging()

    def _read(self) -> str:
        try:
            raw = self._path.read_bytes()
        except OSError as error:
            raise self._error(f"{error.strerror}. Let this user read it, or name another one with --ini") from error
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or raw[1:2] == b"\0":
            raise self._error("is UTF-16. Save it as UTF-8")
        if raw.startswith(b"\xef\xbb\xbf"):
            raise self._error("begins with a byte order mark. Save it as UTF-8 without one", line=1)
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise self._error("has a character that is not UTF-8. Save the file as UTF-8", line=line) from None

    def _parse(self) -> None:
        try:
            self._parser.read_string(self._text)
        except configparser.MissingSectionHeaderError as error:
            message = f"is before the first section. Begin the file with [{APP}]"
            raise self._error(message, line=error.lineno) from None
        except configparser.DuplicateSectionError as error:
            message = "begins this section again. Put its lines into the first one"
            raise self._error(message, line=error.lineno, section=str(error.section)) from None
        except configparser.DuplicateOptionError as error:
            message = f"sets {error.option} again. Keep one of the lines"
            raise self._error(message, line=error.lineno, section=error.section) from None
        except configparser.ParsingError as error:
            message = "is neither `name = value` nor a comment. Add the =, or put # in front"
            raise self._error(message, line=error.errors[0][0]) from None

    def _require(self, section: str) -> None:
        if self._parser.has_section(section) or any(map(self._parser.has_section, _OTHER_KINDS.get(section, ()))):
            return
        near = difflib.get_close_matches(section, self._parser.sections(), n=1, cutoff=0.8)
        hint = f"Did you mean it by [{near[0]}]?" if near else f"It begins with `use = {_USES[section]}`"
        line = self._line_of(near[0]) if near else None
        raise self._error(f"has no section [{section}]. {hint}", line=line)

    def _check_percents(self, section: str) -> None:
        if not self._parser.has_section(section):
            return
        known = {"here", "__file__", "http_listen", *(name.lower() for name in self._parser.options(section))}
        for name, value in self._parser.items(section):
            for found in _REFERENCE.finditer(value):
                if found[0] == "%":
                    raise self._error(f"the value of {name} has a single %. {_PERCENT}", section=section, option=name)
                if found[1] is not None and found[1].lower() not in known:
                    problem = f"the value of {name} uses %({found[1][:40]})s, and nothing has that name. {_PERCENT}"
                    raise self._error(problem, section=section, option=name)

    def _check_use(self, section: str) -> None:
        use = self._parser.get(section, "use", fallback="").strip()
        remedy = f"Write `use = {_USES[section]}`"
        if not use and not any(name.startswith("paste.") for name in self._parser.options(section)):
            raise self._error(f"has no `use`. {remedy}", section=section, line=self._line_of(section))
        if not (egg := _EGG.fullmatch(use)):
            return
        package, name = egg[1], egg[2] or "main"
        try:
            entries = distribution(package).entry_points
        except PackageNotFoundError:
            message = f"`use = {use}`: the package {package} is not installed. {remedy}, or install it"
            raise self._error(message, section=section, option="use") from None
        fitting = sorted({each.name for each in entries if each.group in _GROUPS[section]})
        if name not in fitting:
            has = f"it has {', '.join(fitting)}" if fitting else "it has nothing for this section"
            message = f"`use = {use}`: the package has no {name!r}, {has}. {remedy}"
            raise self._error(message, section=section, option="use")
        if section == SERVER:
            self._check_server(next(each for each in entries if each.name == name and each.group in _GROUPS[section]))

    def _check_server(self, entry: EntryPoint) -> None:
        """Let the server check its settings, if it can, before anything of the service has started."""
        check = getattr(entry.load(), "check_settings", None)
        if check is None:
            return
        for name in self._parser.options(SERVER):
            value = self._parser.get(SERVER, name)
            if name in {"use", *self._parser.defaults()} or "%" in value:
                continue
            try:
                check({name: value})
            except ValueError as error:
                raise self._error(str(error), section=SERVER, option=name) from None

    def _check_logging(self) -> None:
        names = {kind: list(self._keys(kind)) for kind in ("loggers", "handlers", "formatters")}
        for kind, keys in names.items():
            for section in (f"{kind[:-1]}_{key}" for key in keys):
                if not self._parser.has_section(section):
                    message = f"names {section.partition('_')[2]!r}, and there is no section [{section}]. Add it"
                    raise self._error(message, section=kind, option="keys")
                self._check_logging_section(section, names)

    def _keys(self, kind: str) -> Iterator[str]:
        if not self._parser.has_section(kind):
            raise self._error(f"has no section [{kind}], which [loggers] needs. Add it, or delete the others")
        return (key.strip() for key in self._parser.get(kind, "keys", fallback="").split(",") if key.strip())

    def _check_logging_section(self, section: str, names: Mapping[str, list[str]]) -> None:
        values = self._parser[section]
        level = values.get("level", "NOTSET").strip()
        if level not in logging.getLevelNamesMapping():
            known = "DEBUG, INFO, WARNING, ERROR or CRITICAL"
            raise self._error(f"`level = {level[:40]}` is not a level. Write {known}", section=section, option="level")
        for option, kind in (("handlers", "handlers"), ("formatter", "formatters")):
            for name in (each.strip() for each in values.get(option, "").split(",") if each.strip()):
                if name not in names[kind]:
                    message = f"{option} names {name[:40]!r}, which is not among the keys of [{kind}]. Add it there"
                    raise self._error(message, section=section, option=option)

    def _line_of(self, section: str, option: str = "") -> int | None:
        current = ""
        for number, line in enumerate(self._text.splitlines(), start=1):
            if header := re.match(r"\[([^\]]+)\]", line):
                current = header[1]
            if current == section and (not option or re.match(rf"{re.escape(option)}\s*[=:]", line)):
                return number
        return None

    def _error(
        self, message: str, *, section: str = "", option: str = "", line: int | None = None
    ) -> ConfigurationError:
        line = line or (self._line_of(section, option) if option else None)
        where = "".join([f", line {line}" if line else "", f", section [{section}]" if section else ""])
        end = "" if message.endswith("?") else "."
        return ConfigurationError(f"The ini file {str(self._path)!r}{where}: {message}{end}")
