"""The texts for the events of files, tokens, storages and jobs."""

from collections.abc import Mapping

from .text import Text

SERVICE: Mapping[str, Text] = {
    "file.added": Text(
        title="File {file} added", counted=("file added", "files added"), what="The file {file} ({size}) was uploaded."
    ),
    "file.edited": Text(
        title="File {file} changed",
        counted=("file changed", "files changed"),
        what="The file {file} was changed: {changes}.",
    ),
    "file.deleted": Text(
        title="File {file} deleted",
        counted=("file deleted", "files deleted"),
        what="The file {file} ({size}) was deleted.",
    ),
    "file.downloaded": Text(
        title="File {file} downloaded",
        counted=("file downloaded", "files downloaded"),
        what="The file {file} ({size}) was downloaded.",
    ),
    "alias.created": Text(
        title="Alias {name} created", counted=("alias created", "aliases created"), what="The alias {name} was created."
    ),
    "alias.edited": Text(
        title="Alias {name} edited",
        counted=("alias edited", "aliases edited"),
        what="The alias {name} was edited: {changes}.",
    ),
    "alias.deleted": Text(
        title="Alias {name} deleted", counted=("alias deleted", "aliases deleted"), what="The alias {name} was deleted."
    ),
    "token.created": Text(
        title="Token {token} created",
        counted=("token created", "tokens created"),
        what="The token {token} was created.",
    ),
    "token.edited": Text(
        title="Token {token} edited",
        counted=("token edited", "tokens edited"),
        what="The token {token} was edited: {changes}.",
    ),
    "enrolment.created": Text(
        title="Code for {name} made",
        counted=("one-time code made", "one-time codes made"),
        what="A one-time code was made, with which {name} gets a token for {collection}.",
    ),
    "enrolment.used": Text(
        title="{name} has enrolled itself",
        counted=("host enrolled", "hosts enrolled"),
        what="{name} has used its one-time code and got the token {token} for {collection}.",
        advice="If this host has not enrolled itself, revoke the token.",
    ),
    "enrolment.revoked": Text(
        title="Code for {name} revoked",
        counted=("one-time code revoked", "one-time codes revoked"),
        what="The one-time code for {name} was revoked before it was used.",
    ),
    "token.rotated": Text(
        title="Token {token} rotated",
        counted=("token rotated", "tokens rotated"),
        what="The token {token} got a new secret.",
    ),
    "token.revoked": Text(
        title="Token {token} revoked",
        counted=("token revoked", "tokens revoked"),
        what="The token {token} was revoked. Its clients can no longer use the service.",
        advice="If clients still need access, give them a new token.",
    ),
    "token.expired": Text(
        title="Token {token} expired",
        counted=("token expired", "tokens expired"),
        what="The token {token} was removed: {reason}.",
        advice="If a client still needs access, give it a new token with `frepo auth:create-token`.",
    ),
    "blob.damaged": Text(
        title="Stored bytes are damaged",
        counted=("damaged content", "damaged contents"),
        what="Bytes in the storage {storage} are damaged ({key}, {size}): {problem}. {used_by}",
        advice="Upload the same content again, which heals it, or copy the blob back from a backup of the storage. "
        "Then check the disk or the storage service, and run `frepo storage:verify`.",
        level="failure",
    ),
    "blob.healed": Text(
        title="Damaged bytes are sound again",
        counted=("content healed", "contents healed"),
        what="Bytes in the storage {storage} that were damaged are sound again ({key}, {size}).",
        level="success",
    ),
    "copy.damaged": Text(
        title="A second copy is damaged",
        counted=("damaged second copy", "damaged second copies"),
        what="The second copy in the storage {storage} is damaged ({key}, {size}): {problem}. It is made again.",
        advice="If there are several, check the disk or the storage service.",
        level="failure",
    ),
    "mirror.late": Text(
        title="Second copies are late",
        counted=("late second copy", "late second copies"),
        what="A content has waited for its second copy in the storage {storage} since {since}.",
        advice="`frepo storage:mirror` says what is wrong. Uploads are accepted meanwhile, with one copy.",
        level="failure",
    ),
    "mirror.recovered": Text(
        title="Second copies are up to date again",
        counted=("storage with second copies recovered", "storages with second copies recovered"),
        what="No content waits too long for its second copy in the storage {storage} any more.",
        level="success",
    ),
    "blob.fell_back": Text(
        title="Contents are read from their second copies",
        counted=("read from another copy", "reads from another copy"),
        what="The storage {storage} did not give a content ({key}, {size}): {problem}. It was read from another copy.",
        advice="`/health` says whether the storage works. What is damaged is repaired by the job `mirror`.",
        level="failure",
    ),
    "storage.full": Text(
        title="The storage {storage} is full",
        counted=("full storage", "full storages"),
        what="The storage {storage} has no room: {problem}. Uploads are refused.",
        advice="Enlarge the storage, or delete versions and files that are no longer needed. Deleting works on a "
        "full disk.",
        level="failure",
    ),
    "storage.unavailable": Text(
        title="The storage {storage} does not work",
        counted=("failure of a storage", "failures of a storage"),
        what="The storage {storage} failed or cannot be reached: {problem}.",
        advice="Check the storage service, its network and its credentials. `/health` says whether it works.",
        level="failure",
    ),
    "storage.recovered": Text(
        title="The storage {storage} works again",
        counted=("storage recovered", "storages recovered"),
        what="The storage {storage}, which was {was}, works again.",
        level="success",
    ),
    "storage.disputed": Text(
        title="The storage {storage} may belong to another database",
        counted=("disputed storage", "disputed storages"),
        what="The storage {storage} may hold the blobs of another database, or newer ones: {problem}. Nothing was "
        "deleted.",
        advice="Find out which services use this storage. If it is this one alone, accept it with `frepo "
        "storage:adopt`.",
        level="failure",
    ),
    "storage.adopted": Text(
        title="The storage {storage} was adopted",
        counted=("storage adopted", "storages adopted"),
        what="This database became the only owner of the storage {storage}.",
    ),
    "storage.promoted": Text(
        title="{storage} is the first storage now",
        counted=("storage promoted", "storages promoted"),
        what="The storage {storage} became the first one instead of {former}. {lacking} contents had no copy in it.",
    ),
    "job.failed": Text(
        title="The job {job} failed",
        counted=("job failed", "jobs failed"),
        what="The job {job} failed: {error}.",
        advice="Repair the cause. The job runs again at its next time; `frepo jobs:run` runs it now.",
        level="failure",
    ),
    "job.recovered": Text(
        title="The job {job} succeeded again",
        counted=("job recovered", "jobs recovered"),
        what="The job {job}, which had failed, has succeeded.",
        level="success",
    ),
    "message.sent": Text(title="{title}", counted=("message", "messages"), what="A message of {sender}: {title}."),
}
