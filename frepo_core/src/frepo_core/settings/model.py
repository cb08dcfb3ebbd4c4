"""Every setting of the service: its name in the ini, type, default and help."""

from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, SecretStr

from frepo_core.errors import RemotesBusyError

from .compact import CompactSettings
from .database import DatabaseSettings
from .declaration import harmless, setting
from .mirror import MirrorSettings
from .restore_tests import RestoreTestSettings
from .types import (
    BasePath,
    Domain,
    Duration,
    Expression,
    FreeSpace,
    Lines,
    Location,
    Networks,
    Origins,
    Seconds,
    Size,
    Words,
)


class Settings(CompactSettings, DatabaseSettings, MirrorSettings, RestoreTestSettings):
    """The settings of one service. They are frozen: a change needs a restart."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, populate_by_name=True, validate_default=True
    )

    # Application
    app_env: Literal["dev", "test", "prod"] = setting(
        "app.env",
        "prod",
        "`dev` and `test` generate missing secrets; `prod` refuses to start without them.",
    )
    app_secret: SecretStr = setting("app.secret", "", "Key for signing links. Required in `prod`.")
    app_secrets_file: Path | None = harmless(
        "app.secrets_file",
        None,
        "Outside `prod`: the file (mode 0600) in which generated secrets are kept.",
    )
    app_domain: Domain = harmless(
        "app.domain", "", "Host name for links, optionally with a port; empty: the host of the request."
    )
    base_path: BasePath = harmless(
        "base_path",
        "",
        "Path below which a proxy shows the service, such as `/frepo`: links and redirects begin with it. The proxy "
        "may remove it from requests, or leave it.",
    )
    read_only: bool = setting("read_only", False, "Refuse every write with 503.")
    trusted_proxies: Networks = harmless(
        "trusted_proxies", (), "Addresses or networks (CIDR) of the proxies whose X-Forwarded-* headers are trusted."
    )
    cors_origins: Origins = harmless(
        "cors.origins",
        (),
        "Origins of web pages on other sites, such as `https://ops.example.org`, whose scripts may call `/api/v1`; "
        "empty: none.",
    )
    temp_directory: Path | None = harmless(
        "temp_directory", None, "Folder for temporary files of request bodies; empty: the system's folder."
    )
    http_timeout: Seconds = setting(
        "http.timeout", 30.0, "Timeout in seconds for connecting to a URL that is fetched, and for each read from it."
    )
    long_execution_time: Seconds = setting(
        "long_execution_time",
        1800.0,
        "Time limit in seconds for fetching a URL, and for finishing requests when the service stops.",
    )
    health_check_code: SecretStr = setting(
        "health_check.code", "", "The code that /health requires; empty: /health always answers 403."
    )
    ids_mapping_file: Path = harmless(
        "ids_mapping.file",
        "config/ids_mapping.yaml",
        "YAML file that maps aliases to stored names; it need not exist. Changes apply within a second.",
    )
    post_install_cmd: Lines = setting(
        "post_install_cmd",
        (),
        "Commands of `frepo`, one per line, that `frepo install` runs at its end (without a shell).",
    )
    plugins_disabled: Words = harmless("plugins.disabled", (), "Entry points of plug-ins that must not be loaded.")

    # Tokens
    enc_token_phrase: SecretStr = setting(
        "enc.token_phrase",
        "",
        "Key for the HMAC of token ids in the database. Required in `prod`. Keep it: the service does not start with "
        "another one.",
    )
    security_admin_token: SecretStr = setting(
        "security.admin_token", "", "A UUIDv4 for which `frepo install` creates an administrator's token."
    )
    token_expiration_time: Expression = harmless(
        "token.expiration_time",
        "+30 minutes",
        "Lifetime of a token if the request does not name one, such as `never` or `+1 day`.",
    )

    # Passwords of files and collections
    password_attempts: int = setting(
        "password.attempts",
        10,
        "How many different wrong passwords a client may try for a file, for a collection, or in listings, before it "
        "gets 429; 0: no limit.",
        ge=0,
    )

    # Storage
    fs_adapter: str = harmless(
        "fs.adapter",
        "local",
        "The adapter of the first storage, or the name of one of `storages`; `frepo plugins` lists the adapters.",
    )
    storages: Words = harmless(
        "storages", (), "Names of further storages, such as `offsite archive`; each has settings `storage.NAME.*`."
    )
    fs_accel_redirect: Location = harmless(
        "fs.accel_redirect",
        "",
        "Internal location, e.g. `/_blobs`, under which nginx serves the local storage: nginx then sends the "
        "downloads. It must be one of `trusted_proxies`.",
    )
    fs_redirect_downloads: bool = setting(
        "fs.redirect_downloads",
        False,
        "Redirect clients to a presigned URL of the storage for files that browsers save rather than show (S3).",
    )
    fs_read_back: bool = setting(
        "fs.read_back",
        False,
        "Read each new blob back and compare it before its upload is answered. Doubles the traffic; for storages that "
        "may corrupt data silently.",
    )
    fs_cache_size: Size = setting(
        "fs.cache_size",
        "16MiB",
        "Memory of each process for caching contents of at most 64 KiB; 0: no cache.",
    )

    # Backups
    backup_one_version_max_size: Size = setting(
        "backup.one_version_max_size",
        "4GB",
        "Default and maximum of a collection's limit for the size of one version; 0: no limit.",
    )
    backup_collection_max_size: Size = setting(
        "backup.collection_max_size",
        "15GB",
        "Default and maximum of a collection's limit for its total size; 0: no limit.",
    )
    backup_max_versions: int = setting(
        "backup.max_versions",
        0,
        "Default and maximum of a collection's limit for the number of versions; 0: no limit.",
        ge=0,
        le=2**63 - 1,
    )
    backup_duplicate_versions: Literal["allow", "refuse"] = setting(
        "backup.duplicate_versions",
        "allow",
        "`refuse`: refuse a version whose content the collection contains already.",
    )
    checks_on_broken: Literal["quarantine", "mark"] = setting(
        "checks.on_broken",
        "quarantine",
        "What follows if an upload check finds a version broken and does not say itself what follows. `quarantine`: "
        "the version is put into quarantine; `mark`: it is added, others are deleted for it, and it is `latest`.",
    )
    checks_patience: Duration = setting(
        "checks.patience",
        "1d",
        "How long rotation waits for the verdict about a version whose check has not ended; then it goes on without.",
    )
    quarantine_max: int = setting(
        "quarantine.max",
        2,
        "How many versions in quarantine a collection keeps, the newest; older ones go to the trash.",
        ge=1,
        le=1000,
    )

    # Locks
    locks_max: Duration = setting(
        "locks.max",
        "3653d",
        "The longest lock that a collection can get. Locks that are longer already stay.",
        gt=timedelta(),
        le=timedelta(days=36525),
    )

    # The trash
    trash_keep: Duration = setting(
        "trash.keep",
        "7d",
        "How long evicted and deleted versions, and deleted collections, can be restored; 0: they are deleted at once.",
        ge=timedelta(),
        le=timedelta(days=36500),
    )
    trash_min_free: FreeSpace = harmless(
        "trash.min_free",
        "10%",
        "How much of the storage must be free, as a percentage or a size such as `50GB`; 0: nothing. While it is less, "
        "versions in the trash end early.",
    )

    # Events and jobs
    events_downloads: bool = setting(
        "events.downloads", False, "Record each download of a file or a version as an event."
    )
    events_keep: Duration = setting(
        "events.keep",
        "400d",
        "How long events are kept; 0: for ever. An event that a subscriber has not got yet stays.",
    )
    jobs_verify_rate: Size = setting(
        "jobs.verify_rate", "50MB", "How many bytes a second the job `verify` reads at most; 0: no limit."
    )

    # The worker
    worker_in_process: bool = setting(
        "worker.in_process",
        True,
        "Run the worker in each process of the service; one of them leads. If false, run `frepo worker`.",
    )
    worker_lease: Seconds = setting(
        "worker.lease",
        30.0,
        "Seconds after which another worker leads if the one that leads does not answer. It renews its lease after a "
        "third of it.",
    )
    jobs_timezone: str = harmless(
        "jobs.timezone", "UTC", "Time zone in which the cron expressions of jobs are read, such as `Europe/Berlin`."
    )

    # Anti-hotlink
    anti_hotlink_protection_enabled: bool = setting(
        "anti_hotlink.protection_enabled", False, "Enable the protected download URL."
    )
    anti_hotlink_restrict_regular_urls: bool = setting(
        "anti_hotlink.restrict_regular_urls",
        False,
        "If the protection is enabled: require a token for regular downloads.",
    )
    anti_hotlink_crypto: str = harmless(
        "anti_hotlink.crypto",
        "md5",
        "Hash for access tokens: `hmac-sha256` (recommended), or the name of a hash of Python's hashlib.",
    )
    anti_hotlink_key: SecretStr = setting(
        "anti_hotlink.key",
        "",
        "Key for `hmac-sha256`, shared with the web site that makes the URLs. Required for it; it must differ from "
        "app.secret.",
    )
    anti_hotlink_secret_method: SecretStr = setting(
        "anti_hotlink.secret_method",
        "",
        "Template of the hashed text with the variables `$expiration_time`, `$filename`, `$http_<header>`, "
        "`$query_<name>`, `$server_<CGI variable>` and `$http_remote_addr`; empty: no protected URL.",
    )
    anti_hotlink_url: str = harmless(
        "anti_hotlink.url",
        "/stream/{accessToken}/{expirationTime}/{fileId}",
        "Route of protected URLs with {accessToken}, {fileId} and optionally {expirationTime}.",
    )

    # Add by URL
    add_by_url_allowed_networks: Networks = harmless(
        "add_by_url.allowed_networks", (), "Networks that add-by-url may connect to although they are not public."
    )
    add_by_url_at_once: int = setting(
        "add_by_url.at_once",
        4,
        "How many URLs each process fetches at the same time, each in a thread: at most half of `threads`. Further "
        f"requests are refused ({RemotesBusyError.number}).",
        ge=1,
    )
