"""Checks who can read files with secrets, and whether this user can write where the service writes."""

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from sqlalchemy import make_url

from frepo_core.domain.structs import struct
from frepo_core.services.composition.container import Services
from frepo_core.services.content.storages.storage_space import temporary_folder
from frepo_core.settings import Settings

from .findings import Finding, good, problem, warning

_SECRET_WORDS = ("secret", "phrase", "password", "token", "key", "code")


@struct
class SettingFiles:
    """The ini file, and the settings that it contains."""

    ini: Path
    settings: Mapping[str, str] = field(repr=False)


def check_permissions(services: Services, files: SettingFiles) -> Iterator[Finding]:
    """Yield a finding for each file that others can read but should not, and for each folder that cannot be written."""
    found = [*_readable_secrets(services, files), *_unwritable(services.settings)]
    yield from found or [
        good("permissions", "Files with secrets are not readable by others, and folders can be written")
    ]


def _readable_secrets(services: Services, files: SettingFiles) -> Iterator[Finding]:
    settings = services.settings
    paths: list[tuple[str, Path]] = []
    if settings.app_secrets_file:
        paths.append(("The file of app.secrets_file (APP_SECRETS_FILE)", settings.app_secrets_file))
    if any(_is_secret(name, value) for name, value in files.settings.items()):
        paths.append(("The ini file, which contains secrets,", files.ini))
    engine = services.database.engine
    for what, path in paths:
        if path.exists() and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            yield problem("permissions", f"{what} {path} can be read by other users", f"Run `chmod 600 {path}`")
    if engine.dialect.name == "sqlite" and _can_others_read(database := Path(str(engine.url.database))):
        yield warning(
            "permissions",
            f"The database {database} can be read by other users: it contains names and addresses",
            f"Run `chmod 600 {database}*`, or make its folder private with `chmod 700`",
        )


def _is_secret(name: str, value: str) -> bool:
    """Return whether a setting of the ini file is a secret, or a URL with a password."""
    last = name.rpartition(".")[2]
    if name == "database.url":
        return bool(make_url(value).password)
    return bool(value) and not last.endswith("_file") and any(word in last for word in _SECRET_WORDS)


def _can_others_read(path: Path) -> bool:
    """Whether users of the group, such as that of the proxy, or all users can read a file and reach it."""
    if not path.exists():
        return False
    mode, folders = path.stat().st_mode, [folder.stat().st_mode for folder in path.resolve().parents]
    can_all = mode & stat.S_IROTH and all(folder & stat.S_IXOTH for folder in folders)
    return bool(can_all or (mode & stat.S_IRGRP and all(folder & (stat.S_IXGRP | stat.S_IXOTH) for folder in folders)))


def _unwritable(settings: Settings) -> Iterator[Finding]:
    """Yield a problem if the folder for temporary files cannot be written. The storage is checked by a probe."""
    folder = temporary_folder(settings)
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        user = os.getuid()
        yield problem(
            "permissions",
            f"temp_directory (TEMP_DIRECTORY) {folder} cannot be written by the user {user}: {error.strerror}",
            "Run the command as the user of the service, or give that user the folder with `chown`",
        )
