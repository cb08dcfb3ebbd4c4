"""Every setting of the service: its name in the ini, type, default and help."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from .types import Domain, Expression, Lines, Location, Networks, Seconds, Size, Words


def _setting(name: str, default: Any, description: str, **limits: Any) -> Any:
    """Declare one setting under its ini name; the environment name follows from it."""
    return Field(default, alias=name, description=description, **limits)


class Settings(BaseModel):
    """The settings of one service; frozen, so that what was read at boot is what holds."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, populate_by_name=True, validate_default=True
    )

    # Application
    app_env: Literal["dev", "test", "prod"] = _setting(
        "app.env",
        "prod",
        "`dev` and `test` make missing secrets themselves; `prod` refuses to start without them.",
    )
    app_secret: SecretStr = _setting("app.secret", "", "Key for the signatures of links. Required in `prod`.")
    app_secrets_file: Path | None = _setting(
        "app.secrets_file",
        None,
        "Outside `prod`: the file (0600) where secrets that are not set are made and kept.",
    )
    app_domain: Domain = _setting(
        "app.domain", "", "Host name for links; empty: the one that the request was sent to. May hold a port."
    )
    read_only: bool = _setting("read_only", False, "Answer every write with 503.")
    trusted_proxies: Networks = _setting(
        "trusted_proxies", (), "Addresses or CIDR of the proxies whose X-Forwarded-* headers are believed."
    )
    temp_directory: Path | None = _setting(
        "temp_directory", None, "Where bodies wait while they are read; empty: the system's own folder."
    )
    http_timeout: Seconds = _setting(
        "http.timeout", 30.0, "Seconds to connect to, and between reads from, a URL that is fetched."
    )
    long_execution_time: Seconds = _setting(
        "long_execution_time",
        1800.0,
        "Seconds that fetching a URL, or draining at a stop, may take in all.",
    )
    health_check_code: SecretStr = _setting(
        "health_check.code", "", "The code that /health wants; empty: /health always answers 403."
    )
    ids_mapping_file: Path = _setting(
        "ids_mapping.file",
        "config/ids_mapping.yaml",
        "YAML map of aliases to stored names; it need not exist. A change is noticed within a second.",
    )
    post_install_cmd: Lines = _setting(
        "post_install_cmd",
        (),
        "Console commands, a line each, that `frepo install` runs at its end (no shell).",
    )
    plugins_disabled: Words = _setting("plugins.disabled", (), "Entry points of plug-ins that are not loaded.")

    # Tokens
    enc_token_phrase: SecretStr = _setting(
        "enc.token_phrase",
        "",
        "Key for the HMAC under which token ids are stored. Required in `prod`; keep it: with another one nothing starts.",
    )
    security_admin_token: SecretStr = _setting(
        "security.admin_token", "", "A UUIDv4 that `frepo install` makes an administrator's token."
    )
    token_expiration_time: Expression = _setting(
        "token.expiration_time",
        "+30 minutes",
        "How long a token lives whose maker does not say: `never` or `+1 day`.",
    )

    # Passwords of files and collections
    password_attempts: int = _setting(
        "password.attempts",
        10,
        "How many different wrong passwords a client may try for a file, a collection, or in listings; more answer 429. 0: no limit.",
        ge=0,
    )
    password_window: Seconds = _setting(
        "password.window", 600.0, "Seconds after which a client that guessed too often may try again."
    )

    # Database
    database_url: SecretStr = _setting(
        "database.url",
        "sqlite:///frepo.db",
        "SQLAlchemy URL; `postgres://` and `mysql://` are understood, too. Required in `prod`.",
    )
    database_driver: str = _setting(
        "database.driver",
        "",
        "Driver in place of the URL's own: sqlite, postgresql, mysql, or the old pdo_* names.",
    )
    database_auto_upgrade: bool = _setting(
        "database.auto_upgrade",
        False,
        "Migrate at start. Otherwise the service refuses to start on an old schema.",
    )

    database_reserve: Size = _setting(
        "database.reserve",
        "16MiB",
        "SQLite only: disk space next to the database that is kept for deletions on a full disk; 0: none.",
    )

    # Storage
    fs_adapter: str = _setting(
        "fs.adapter", "local", "The storage for new blobs; `frepo plugins` lists what is installed."
    )
    fs_accel_redirect: Location = _setting(
        "fs.accel_redirect",
        "",
        "Internal location of nginx, one of `trusted_proxies`, below which it finds local files, e.g. `/_blobs`: it sends downloads then.",
    )
    fs_redirect_downloads: bool = _setting(
        "fs.redirect_downloads",
        False,
        "Send clients to a presigned URL of the store for what they save rather than show (S3).",
    )

    fs_read_back: bool = _setting(
        "fs.read_back",
        False,
        "Read each new blob back and compare it before its upload is answered. Twice the traffic; for storages that lie.",
    )
    fs_cache_size: Size = _setting(
        "fs.cache_size",
        "16MiB",
        "Memory of each process for contents of at most 64 KiB that were read lately; 0: none.",
    )

    # Backups
    backup_one_version_max_size: Size = _setting(
        "backup.one_version_max_size",
        "4GB",
        "Default and ceiling of a collection's limit for one version; 0: none.",
    )
    backup_collection_max_size: Size = _setting(
        "backup.collection_max_size", "15GB", "Default and ceiling of a collection's size; 0: none."
    )
    backup_max_versions: int = _setting(
        "backup.max_versions",
        0,
        "Default and ceiling of the number of versions; 0: none.",
        ge=0,
        le=2**63 - 1,
    )
    backup_duplicate_versions: Literal["allow", "refuse"] = _setting(
        "backup.duplicate_versions",
        "allow",
        "`refuse`: content that a present version has is no new version.",
    )

    # Anti-hotlink
    anti_hotlink_protection_enabled: bool = _setting(
        "anti_hotlink.protection_enabled", False, "Switch the protected download URL on."
    )
    anti_hotlink_restrict_regular_urls: bool = _setting(
        "anti_hotlink.restrict_regular_urls", False, "With the protection on: regular downloads need a token."
    )
    anti_hotlink_crypto: str = _setting(
        "anti_hotlink.crypto",
        "md5",
        "Hash of the access token: `hmac-sha256`, which is recommended, or a hashlib name.",
    )
    anti_hotlink_key: SecretStr = _setting(
        "anti_hotlink.key",
        "",
        "Key of `hmac-sha256`, which only frepo and the web site know. Required with it; it must differ from app.secret.",
    )
    anti_hotlink_secret_method: SecretStr = _setting(
        "anti_hotlink.secret_method",
        "",
        "Template of what is hashed, with `$expiration_time`, `$filename`, `$http_<header>`, `$query_<name>`, "
        "`$server_<CGI variable>` or `$http_remote_addr` filled in; empty: no protected URL.",
    )
    anti_hotlink_url: str = _setting(
        "anti_hotlink.url",
        "/stream/{accessToken}/{expirationTime}/{fileId}",
        "Route pattern with {accessToken}, {fileId} and, if wanted, {expirationTime}.",
    )

    # Fetcher
    add_by_url_allowed_networks: Networks = _setting(
        "add_by_url.allowed_networks", (), "Networks that add-by-url may reach although they are not public."
    )
    add_by_url_at_once: int = _setting(
        "add_by_url.at_once",
        4,
        "How many URLs each process fetches at once, each by a thread: at most half of `threads`. More are refused (60008).",
        ge=1,
    )
