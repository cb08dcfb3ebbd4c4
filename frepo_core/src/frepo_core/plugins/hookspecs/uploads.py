"""The hooks about uploads: where they are stored, what is kept, and what is refused."""

from collections.abc import Sequence

from ..checks.upload_check import UploadCheck
from ..checks.upload_policy import UploadPolicy
from ..context import PluginContext
from ..markers import hookspec
from ..storages.storage import StorageSpec
from ..strategy import StrategySpec

# pluggy calls the implementations, so the bodies are empty.


@hookspec
def frepo_storages() -> list[StorageSpec]:  # type: ignore[empty-body]
    """Return the storage backends of this plug-in.

    :when: once, at the start of the service or of a command
    :thread: the main thread; the methods of a backend are called by many threads at once
    :transaction: outside
    :failure: the start stops and names the package; see `StorageBackend` for the errors of its methods

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_storages():
            return [StorageSpec(name="crate", settings=StorageSettings, build=Crate, summary="a crate")]
    """


@hookspec
def frepo_strategies() -> list[StrategySpec]:  # type: ignore[empty-body]
    """Return the collection strategies of this plug-in.

    :when: once, at the start; `build` too. `make_room` is called for each upload of a version, possibly several
        times
    :thread: `make_room`: a thread of its own; the request waits, at most for two seconds
    :transaction: outside. The transaction that adds the version uses the answer; if the collection has changed
        since, the strategy is called again
    :failure: the upload answers 500, the log names the strategy, nothing changes; `CollectionFull` refuses the
        version. A strategy that does not return within two seconds: 503 that names the strategy and its
        package; while four calls hang, it is not called any more

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_strategies():
            return [StrategySpec(name="keep_last", build=KeepLast, options=Options, summary="keeps the last ones")]
    """


@hookspec
def frepo_upload_checks() -> Sequence[UploadCheck]:  # type: ignore[empty-body]
    """Return the checks of uploaded content of this plug-in.

    :when: once, at the start; `run` for each uploaded version, or file, after the content was received and
        hashed, before it is stored
    :thread: `run`: a thread of its own; the request waits, at most for the `deadline`
    :transaction: outside
    :failure: a `Finding` is recorded with the version, or refuses the upload, as `on_finding` says. After any
        other exception, and after the deadline, the content is accepted as `not checked`, and the log names the
        check

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_upload_checks():
            return [UploadCheck(name="not_empty", run=check, on_finding="refuse")]
    """


@hookspec
def frepo_upload_policies(context: PluginContext) -> Sequence[UploadPolicy]:  # type: ignore[empty-body]
    """Return the policies of this plug-in: who may upload, delete or download versions, and when.

    They may depend on `context.settings`. Without a policy for an action, a request costs no more.

    :when: once, at the start; `decide` before each upload, deletion or download of a version that a client or
        `frepo` asks for. An upload is decided about before its content arrives, again after it if its size was not
        known, and with an `Idempotency-Key` after it only. Evictions, and what jobs and other plug-ins read, are not
        asked about
    :thread: `decide`: a thread of its own; the request waits, at most for two seconds
    :transaction: outside
    :failure: a `PolicyRefusal` refuses the request with its reason. After any other exception, and after the
        deadline, `on_failure` decides: the request goes on and the log names the policy, or it is answered with 503.
        While four calls hang, the policy is not called any more

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_upload_policies():
            return [UploadPolicy(name="working_days", decide=decide, actions=("delete",))]
    """
