"""The texts for the events of collections and their versions."""

from collections.abc import Mapping

from .text import Text

_VERSION = "Version {version} of the collection {collection}"
BROKEN = "version.broken"
BROKEN_ARRIVAL = "version.broken_arrival"
NEW_NORMAL = "version.new_normal"
OVERTAKEN = "version.overtaken"
KIND_CHANGED = "version.kind_changed"

BACKUPS: Mapping[str, Text] = {
    "version.added": Text(
        title="Version added to {collection}",
        counted=("version added", "versions added"),
        what="A version was added to the collection {collection}: number {version}, {size}.",
        level="success",
    ),
    "version.refused": Text(
        title="Backup refused for {collection}",
        counted=("backup refused", "backups refused"),
        what="An upload to the collection {collection} was refused{times}: {message}. The version was not stored.",
        advice="Correct what the reason names, in the client or in the limits of the collection, and run the backup "
        "again.",
        level="failure",
    ),
    "version.suspicious": Text(
        title="Suspicious backup in {collection}",
        counted=("suspicious backup", "suspicious backups"),
        what=_VERSION + " ({size}) was stored, but looks wrong: {message}.",
        advice="Check the backup job of this collection. If the version is right, there is nothing to do; if not, "
        "repair the job and run it again before good versions are evicted.",
        level="warning",
    ),
    "version.quarantined": Text(
        title="Backup of {collection} in quarantine",
        counted=("backup in quarantine", "backups in quarantine"),
        what=_VERSION + " ({size}) was put into quarantine: {message}. No other version was deleted for it.{in_a_row}",
        advice="Check the backup job of this collection. If the version is right, release it with `frepo "
        "backup:release`; if not, repair the job and run it again.",
        level="warning",
    ),
    # Not a kind of its own, but what `version.quarantined` is called here if the verdict is `broken`.
    BROKEN_ARRIVAL: Text(
        title="Broken backup of {collection} in quarantine",
        counted=("broken backup in quarantine", "broken backups in quarantine"),
        what=_VERSION + " ({size}) is broken, and was put into quarantine: {message}. No other version was deleted for "
        "it.{in_a_row}",
        advice="Run the backup again now. Then find out why the client sent a broken file: a full disk, or a dump that "
        "was interrupted.",
        level="failure",
    ),
    # Nor this, which `version.quarantined` is called here after three nights with the same reason of a guard.
    NEW_NORMAL: Text(
        title="Backups of {collection} in quarantine for {nights} nights",
        counted=("backup in quarantine again", "backups in quarantine again"),
        what=_VERSION + " ({size}) was put into quarantine: {message}. It is night {nights} in a row with this "
        "reason, so it may be the new normal.",
        advice="If backups are right like this, release the version with `frepo backup:release`: later ones are "
        "compared with it. If not, the collection has had no good backup for all these nights: repair its job today.",
        level="failure",
    ),
    # Not a kind of its own either, but what `version.quarantined` is called here for a leftover.
    OVERTAKEN: Text(
        title="Late upload to {collection} put aside",
        counted=("late upload put aside", "late uploads put aside"),
        what=_VERSION + " ({size}) arrived after newer ones of the same client, which had given it up. It was put "
        "into quarantine.",
        advice="Nothing has to be done: it stays as long as rotation would have kept it. If this happens often, look "
        "for a network that is cut.",
    ),
    "version.condemned": Text(
        title="Accepted backup of {collection} is broken",
        counted=("accepted backup found broken", "accepted backups found broken"),
        what=_VERSION
        + " ({size}) had been accepted, and is found broken now by the check {check}: {message}. It stays "
        "in the collection, and is not `latest` any more.",
        advice="Run the backup again now. `frepo backup:download ID good` downloads the newest good version.",
        level="failure",
    ),
    "version.unjudged": Text(
        title="Nobody knows whether a backup of {collection} is good",
        counted=("backup without a verdict", "backups without a verdict"),
        what=_VERSION + " ({size}) waits for its verdict since {since}, because a check has not ended. From now on "
        "others may be evicted for it.",
        advice="Look at `frepo jobs`: does the job that checks large backups run, and does it end?",
        level="warning",
    ),
    "version.released": Text(
        title="Version of {collection} released from quarantine",
        counted=("version released", "versions released"),
        what=_VERSION + " ({size}) was released from quarantine: it is a normal version now.",
        level="success",
    ),
    KIND_CHANGED: Text(
        title="Another format in {collection}",
        counted=("version of another format", "versions of another format"),
        what=_VERSION + " ({size}) has another format than those before it. {message}.",
        advice="If nobody has changed the backup job of this collection, look at it.",
    ),
    "version.noted": Text(
        title="Note about a version of {collection}",
        counted=("note changed", "notes changed"),
        what="The note of version {version} of the collection {collection} was changed: {after}.",
    ),
    "version.evicted": Text(
        title="Version evicted from {collection}",
        counted=("version evicted", "versions evicted"),
        what=_VERSION + " ({size}) was deleted to make room for version {replaced_by}.{restorable}",
    ),
    "version.deleted": Text(
        title="Version of {collection} deleted",
        counted=("version deleted", "versions deleted"),
        what=_VERSION + " ({size}) was deleted on request.{restorable}",
        advice="If nobody of you deleted it, revoke the token with `frepo auth:revoke`.",
    ),
    "version.restored": Text(
        title="Version of {collection} restored",
        counted=("version restored", "versions restored"),
        what=_VERSION + " was taken back from the trash. It is not evicted before {protected_until}.",
        level="success",
    ),
    "version.pinned": Text(
        title="Version of {collection} pinned",
        counted=("version pinned", "versions pinned"),
        what=_VERSION + " was pinned: no strategy deletes it.",
    ),
    "version.unpinned": Text(
        title="Version of {collection} no longer pinned",
        counted=("version unpinned", "versions unpinned"),
        what=_VERSION + " is no longer pinned: the strategy may delete it again.",
    ),
    "version.checked": Text(
        title="Version of {collection} checked: {outcome}",
        counted=("version checked", "versions checked"),
        what="The check {check} of version {version} of the collection {collection} ended: {outcome}{explanation}.",
    ),
    # Not a kind of its own, but what `version.checked` is called here if the outcome is `broken`.
    BROKEN: Text(
        title="Broken backup in {collection}",
        counted=("broken backup", "broken backups"),
        what="The check {check} says that version {version} of the collection {collection} is broken{explanation}. "
        "It was stored as it came.",
        advice="Run the backup again now, and keep the last good version until a new one is stored. Then find out "
        "why the client sent a broken file: a full disk, or a dump that was interrupted.",
        level="failure",
    ),
    "version.downloaded": Text(
        title="Version of {collection} downloaded",
        counted=("version downloaded", "versions downloaded"),
        what=_VERSION + " ({size}) was downloaded.",
    ),
    "upload.aborted": Text(
        title="Upload to {collection} broke off",
        counted=("upload broken off", "uploads broken off"),
        what="An upload to the collection {collection} broke off{times} ({reason}). Nothing was stored.",
        advice="If the client does not repeat it, look at its log and at the network, and run the backup again.",
        level="warning",
    ),
    "run.failed": Text(
        title="Backup job of {collection} failed",
        counted=("backup job failed", "backup jobs failed"),
        what="The backup job of the collection {collection} failed, as its client reports: {reason}.",
        advice="Repair the job on its host, and run it again: the state of the collection is `failed` until the next "
        "good version. `frepo backup:runs` shows what the job printed.",
        level="failure",
    ),
    "run.reported": Text(
        title="Backup job of {collection} skipped",
        counted=("backup job skipped", "backup jobs skipped"),
        what="The backup job of the collection {collection} was skipped, as its client reports: {reason}.",
    ),
    "collection.created": Text(
        title="Collection {collection} created",
        counted=("collection created", "collections created"),
        what="The collection {collection} was created.",
    ),
    "collection.edited": Text(
        title="Collection {collection} edited",
        counted=("collection edited", "collections edited"),
        what="The collection {collection} was edited: {changes}.",
    ),
    "collection.deleted": Text(
        title="Collection {collection} deleted",
        counted=("collection deleted", "collections deleted"),
        what="The collection {collection} was deleted.{restorable}",
        advice="If nobody of you deleted it, revoke the token with `frepo auth:revoke`.",
        level="warning",
    ),
    "collection.restored": Text(
        title="Collection {collection} restored",
        counted=("collection restored", "collections restored"),
        what="The collection {collection}, deleted on {deleted_at}, was restored with {versions} versions ({size}).",
        level="success",
    ),
    "collection.moved": Text(
        title="Collection {collection} moved",
        counted=("collection moved", "collections moved"),
        what="The collection {collection} was moved into the storage {storage}: {contents} contents ({size}). "
        "Not moved: {failed}.",
    ),
    "collection.overdue": Text(
        title="Backup of {collection} is overdue",
        counted=("overdue backup", "overdue backups"),
        what="No good backup of the collection {collection} has arrived{cause}. It is expected every "
        "{expected_every} and was due at {due_at}. Last good arrival: {last_arrival}.",
        advice="Look at the backup job on the client: did it run, and what did it print? `frepo status --overdue` "
        "lists all that are missing.",
        level="failure",
    ),
    "collection.recovered": Text(
        title="Backup of {collection} is no longer overdue",
        counted=("collection recovered", "collections recovered"),
        what="The collection {collection} was overdue since {overdue_since} and is not any more: {reason}.",
        level="success",
    ),
    "collection.full": Text(
        title="Collection {collection} is full",
        counted=("collection full", "collections full"),
        what="The collection {collection} has no room ({versions} versions, {stored_size}): {message}. Uploads are "
        "refused.",
        advice="Raise the limits of the collection, delete versions, or choose a strategy that deletes old versions.",
        level="failure",
    ),
    "collection.held": Text(
        title="Collection {collection} is on hold",
        counted=("collection put on hold", "collections put on hold"),
        what="The collection {collection} was put on hold: {reason}. Nothing leaves it until somebody ends that.",
    ),
    "collection.hold_ended": Text(
        title="The hold of {collection} was ended",
        counted=("hold ended", "holds ended"),
        what="The hold of the collection {collection}, set by {held_by} at {since} ({reason}), was ended.",
    ),
    "collection.problem": Text(
        title="Problem of {collection}",
        counted=("problem of a collection", "problems of collections"),
        what="The plug-in {plugin} reports a problem of the collection {collection}: {message}.",
        advice="The page of the collection in the web console says when it ends. The pages of the plug-in say what to "
        "do.",
        level="failure",
    ),
    "collection.problem_ended": Text(
        title="Problem of {collection} ended",
        counted=("problem of a collection ended", "problems of collections ended"),
        what="The problem of the collection {collection} that the plug-in {plugin} reported since {since} ended: "
        "{message}.",
        level="success",
    ),
    "collection.sender_changed": Text(
        title="Another sender of {collection}",
        counted=("collection with another sender", "collections with another sender"),
        what="{message}.",
        advice="If the backup job was moved or changed, there is nothing to do: this is said once. If not, somebody "
        "else may use its token.",
        level="warning",
    ),
    "collection.senders_in_turn": Text(
        title="Several hosts send to {collection}",
        counted=("collection with several hosts", "collections with several hosts"),
        what="{message}.",
        advice="Give each host a collection of its own, or the versions of one replace those of the other.",
        level="warning",
    ),
    "token.shared": Text(
        title="Several hosts use one token",
        counted=("token that several hosts use", "tokens that several hosts use"),
        what="{message}.",
        advice="Give each host a token of its own: that of one host cannot be revoked alone now. A copied machine may "
        "have copied the token.",
        level="warning",
    ),
    "collection.access_granted": Text(
        title="Access to {collection} granted",
        counted=("access granted", "accesses granted"),
        what="The token {token} may use the collection {collection} now.",
    ),
    "collection.access_revoked": Text(
        title="Access to {collection} revoked",
        counted=("access revoked", "accesses revoked"),
        what="The token {token} may no longer use the collection {collection}.",
    ),
    "trash.ended": Text(
        title="Version of {collection} in the trash ended",
        counted=("version in the trash ended", "versions in the trash ended"),
        what=_VERSION + " ({size}), in the trash since {removed_at}, was deleted for good{early}.",
    ),
}
