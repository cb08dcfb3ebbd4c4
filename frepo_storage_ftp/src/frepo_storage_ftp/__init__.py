"""frepo's storage `ftp`: blobs are files on an FTP server, with or without TLS."""

from collections.abc import Iterator

from frepo_core.plugins import DoctorCheck, DoctorFinding, PluginContext, StorageBackend, StorageSpec, hookimpl

from .settings import FtpSettings

__all__ = ["FtpSettings", "frepo_doctor_checks", "frepo_storages"]


def _build(settings: FtpSettings) -> StorageBackend:
    from .backend import FtpStorage  # imported only if the storage is used

    return FtpStorage(settings)


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Register the storage `ftp`."""
    return [StorageSpec(name="ftp", settings=FtpSettings, build=_build, summary="an FTP server, with or without TLS")]


def _examine(backend: StorageBackend, context: PluginContext) -> Iterator[DoctorFinding]:
    settings: FtpSettings = getattr(backend, "settings")  # noqa: B009  # `backend` is imported only if it is used
    if not settings.ssl:
        yield DoctorFinding(
            level="warning",
            message=f"The password and all blobs cross the network to {settings.host} in the clear",
            remedy="Set fs.ftp.ssl = true, if the server has TLS; else let the connection go through a VPN",
        )
    elif not settings.ssl_verify:
        yield DoctorFinding(
            level="warning",
            message=f"The certificate of {settings.host} is not verified: any server in between can read the password",
            remedy="Set fs.ftp.ssl_verify = true, and fs.ftp.ssl_ca_file for a certificate of your own",
        )


@hookimpl
def frepo_doctor_checks() -> list[DoctorCheck]:
    """Examine whether the connection is protected."""
    return [DoctorCheck(name="ftp", run=_examine, storage="ftp")]
