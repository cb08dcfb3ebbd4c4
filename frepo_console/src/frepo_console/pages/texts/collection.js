// The texts of one collection: its versions, access and settings.

import { plural } from "../texts.js";
import { t as collections } from "./collections.js";

export const t = {
  ...collections,

  collection: {
    gone: "This collection does not exist",
    sections: "Sections",
    tabs: {
      versions: "Versions",
      runs: "Runs",
      settings: "Settings and retention",
      access: "Access",
      send: "Send backups here",
      events: "Events",
    },
    since: (time) => `since ${time}`,
    download: (number) => `Download latest (v${number})`,
    downloadGood: (number) => `Download newest good (v${number})`,
    upload: "Upload",
    drop: "Drop a file here.",
    tooLarge: (bytes, most) => `It has ${bytes}: that is larger than the collection allows, ${most}.`,
    dropText: "It becomes the next version.",
    delete: "Delete collection",
    deleteTitle: (name) => `Delete ${name}?`,
    deleteEmpty: "The collection has no versions. It is deleted with its settings and its list of tokens.",
    deleteToTrash: (versions, bytes, until) =>
      `This moves the collection with ${plural(versions, "version", "versions")}, ${bytes}, to the trash until ${until}. Clients that send backups to it get an error.`,
    deleteFirst: (versions) =>
      `The collection has ${plural(versions, "version", "versions")}. Delete them first: this service has no trash.`,
    advice: {
      damaged:
        "The stored bytes are not what was uploaded. The other versions are not affected. If its sender still has the file, upload it again: that repairs this version.",
      overdue: "Look at the backup job of this collection, and at the log of its client.",
      failed: "Repair the backup job on its client, and run it again. The next good version ends this.",
      full: "Raise the limits in the settings, delete versions, or choose a strategy that makes room.",
      suspicious: "Compare it with the version before: release it if it is right, or delete it.",
      quarantined: "It is in quarantine, and does not count until then.",
      late: "The backup is within its grace.",
    },
    fullOfYoung: (time) =>
      `No version is deleted before it is ${time} old. Raise the limits, or lower the minimum retention in the settings.`,
  },

  facts: {
    title: "Figures",
    last: "Last version",
    lastText: (number, time) => `version ${number}, ${time}`,
    unchanged: (nights) => `unchanged for ${plural(nights, "night", "nights")}`,
    sameContent: "The last version has the same content as",
    sameIn: (name, number) => `${name} version ${number}`,
    good: "Newest good version",
    restore: "Restore-tested",
    restoreFailed: (time) => `the test of ${time} failed`,
    next: "Due",
    unwatched: "nobody is told if it is late",
    versions: "Versions",
    stored: "Stored",
    of: (limit) => `of ${limit}`,
    unlimited: "no limit",
    compacted: (size) => `takes ${size} on the storage`,
    group: (name) => `compact storage in the group ${name}`,
    pinned: (number) => `${number} pinned`,
    held: "on hold",
    quarantined: (number) => `${number} quarantined`,
    trash: "Trash",
    trashText: "can be restored",
    noTrash: "nothing to restore",
  },

  versions_: {
    version: "Version",
    received: "Received",
    change: "Change",
    changeShort: "change",
    checks: "Checks",
    verdict: "Verdict",
    verdicts: {
      restored: "restored",
      complete: "complete",
      whole: "whole",
      unchecked: "unchecked",
      pending: "pending",
      suspicious: "suspicious",
      broken: "broken",
    },
    condemned: (time) => `Found broken ${time}, after it was accepted`,
    pending: "Waits for its verdict, evicts nothing yet",
    releasedBy: (name, by, time) => `Released by ${name ? `${name} (${by})` : by}, ${time}`,
    number: (number) => `version ${number}`,
    none: "No versions yet",
    noneText: "Upload a file, or see how to send backups here.",
    pinned: "Pinned",
    quarantined: "Quarantined",
    quarantineText: "Does not count, evicts nothing",
    overtakenText:
      "Arrived after newer ones: its client had given it up. Evicts nothing, and leaves when rotation comes to it",
    unchecked: "not checked",
    unknown: "unknown",
    unreadable: "cannot be read",
    outcomes: {
      good: "good",
      broken: "broken",
      suspicious: "suspicious",
      pending: "waits",
      "not checked": "not checked",
    },
    inQuarantine: "in quarantine",
    details: (number) => `Version ${number}: details`,
    compare: "Compare",
    downloadMany: (number) => `Download ${number}`,
    pinMany: (number) => `Pin ${number}`,
    downloadOne: (name) => `Download ${name}`,
    pinOne: (name, isPinned) => `${isPinned ? "Pin of" : "Pin"} ${name}`,
    pinTitle: (number, isPinned) => `${isPinned ? "Pin of" : "Pin"} version ${number}`,
    pinText: "A pinned version is not deleted, neither by the strategy nor by a person.",
    pinReason: "Reason",
    pinUntil: "Until",
    pinUntilHint: "Empty: until somebody unpins it. The pin ends when this day begins (UTC).",
    pin: "Pin",
    unpin: "Unpin",
    pinnedUntil: (time) => `pinned until ${time}`,
    noteOne: (name) => `Note of ${name}`,
    deleteOne: (name) => `Delete ${name}`,
    release: "Release",
    releaseOvertaken: "Release all overtaken",
    savedAs: (name, saved) =>
      saved.length < name.length
        ? `Downloads are named ${saved}: what is stored is not compressed, although the collection is called ${name}.`
        : `Downloads are named ${saved}: what is stored is compressed, although the collection is called ${name}.`,
    overtakenNote: "Some versions were overtaken by newer ones, and are in quarantine.",
    note: "Note",
    noteTitle: (number) => `Note of version ${number}`,
    deleteTitle: (number, numbers) => (number === 1 ? `Delete version ${numbers}?` : `Delete ${number} versions?`),
    toTrash: (number, numbers, bytes, until) =>
      `This moves ${number === 1 ? "version" : "versions"} ${numbers}, ${bytes}, to the trash until ${until}.`,
    deleted: (number, numbers, bytes) =>
      `This deletes ${number === 1 ? "version" : "versions"} ${numbers}, ${bytes}, for good: this service has no trash.`,
    moveToTrash: (number) => `Move ${number} to trash`,
    delete: (number) => `Delete ${plural(number, "version", "versions")}`,
    pinnedStay: (number) => `${plural(number, "pinned or locked version stays", "pinned or locked versions stay")}.`,
  },

  lock: {
    title: "Lock",
    none: "Versions are not locked.",
    locked: (length) => `Nobody can remove a version that is younger than ${length}, administrators included.`,
    until: (time) => `Locked until ${time}`,
    set: "Lock versions",
    extend: "Extend the lock",
    dialog: "Lock the versions of this collection",
    extendDialog: "Extend the lock of this collection",
    now: (length) => `Now each version is locked for ${length}.`,
    text: "While a version is locked, nobody can delete or evict it, through no page, command or API, administrators included. A full collection refuses uploads until a lock is over. A lock can be extended, never shortened or removed.",
    length: "For how long",
    hint: "For example 30d or 1w",
    sure: "I know that nobody can undo this",
    action: "Lock",
  },

  hold: {
    title: "Hold",
    none: "The collection is not on hold.",
    set: "Put on hold",
    held: (time, who) => `On hold since ${time}, set by ${who}:`,
    text: "While a collection is on hold, nothing leaves it or its trash, through no strategy, limit, job, page, command or API. The number of versions has no limit. If its limit of the size is reached, uploads are refused.",
    reason: "Why",
    hint: "People read it where the hold prevents something",
    end: "End the hold",
    after:
      "Limits and the strategy delete versions again from the next upload on. What is in the trash of the collection stays there for the whole time of the trash.",
  },

  charts: {
    nights: (number) => `the last ${number} nights`,
    kinds: { kept: "stored", failed: "broken", suspicious: "suspicious" },
    label: (uploads, least, most, last) => `${uploads} uploads, from ${least} to ${most}, the newest ${last}`,
    tooNew: "The curve begins with the second version.",
    durations: "How long the job ran",
    durationLabel: (least, most, last) => `From ${least} to ${most}, the last time ${last}`,
    sizes: "Size of each upload",
    least: (bytes, why) => `dashed: below ${bytes}, ${why}, an upload is suspicious`,
    most: (bytes, why) => `above ${bytes}, ${why}, too`,
    bounds: {
      minimum: () => "the smallest size in the settings",
      median: (percent, bytes) => `${percent} % of the median of the last 14 good versions, ${bytes}`,
      largest: (percent, bytes) => `${percent} % of the largest median of 60 days, ${bytes}`,
      before: (percent, bytes) => `${percent} % of the newest good version, ${bytes}`,
    },
  },

  calendar: {
    title: "A year of backups",
    met: (met, expected) => `${met} of ${expected} expected`,
    summary: (arrived, days, isCut) =>
      `backups on ${arrived} of ${days} days${isCut ? ", earlier days are not read" : ""}`,
    day: (arrived, kind) =>
      [
        arrived && plural(arrived, "backup", "backups"),
        ["damaged", "failed", "suspicious", "refused"].includes(kind) && kind,
      ]
        .filter(Boolean)
        .join(", ") || (kind === "unread" ? "not read" : "no backup"),
    kinds: {
      arrived: "arrived",
      damaged: "damaged",
      failed: "failed",
      suspicious: "suspicious",
      refused: "refused",
      none: "no backup",
    },
  },

  runs: {
    filters: { "": "All", failed: "Failed", skipped: "Skipped" },
    outcomes: { ok: "Succeeded", failed: "Failed", skipped: "Skipped" },
    took: (time) => `took ${time}`,
    statuses: (numbers) => `exit statuses ${numbers}`,
    output: "Error output",
    none: "No client has reported a run",
    noneOfThese: "No such run was reported",
    noneText: "A backup job can report that it failed, and why, also if it has sent nothing.",
  },

  access: {
    token: "Token",
    may: "May",
    expires: "Expires",
    used: "Last used",
    usedShort: "used",
    from: (address) => `from ${address}`,
    remove: "Remove",
    none: "No token may use this collection",
    noneText: "Administrators may, and tokens with roles for all collections.",
    removeTitle: (name) => `Remove ${name}?`,
    removeText: (name) =>
      `The token stays valid, but cannot use ${name} any more. A job that sends backups with it fails.`,
    removeAction: "Remove from the list",
  },

  send: {
    kinds: "Tools",
    names: {
      curl: "curl",
      client: "frepo-client",
      cron: "cron",
      systemd: "systemd timer",
      bahub: "bahub",
      newman: "newman",
    },
    compressed: (compression) =>
      `Its sender compresses with ${compression}, so old versions cannot be stored as differences: what to change`,
    compressOnTheWay:
      "Compress on the way only: frepo-client does so without that stage, and curl with Content-Encoding.",
    hint: "The token needs the role to upload to this collection, and to be on its list.",
  },

  enrol: {
    title: "A new server",
    name: "Name of the server",
    nameHint: "Its token, which may only send backups here and read them, gets this name.",
    make: "Make a one-time code",
    notAllowed:
      "This token may not make one-time codes for new servers: it must be allowed to create tokens, and to change the list of tokens of this collection.",
    install: (version) => `Install the client on the server, frepo-client ${version}`,
    copyInstall: "Copy the line that installs",
    enroll: "Enrol the server",
    copyEnroll: "Copy the line that enrols",
    code: "The line asks for this code",
    codeText: (end) => `It works once, for 7 days, until ${end}. Copy it now: it is not shown again.`,
    copyCode: "Copy code",
  },

  settings: {
    title: "Settings",
    unsaved: (changes, errors) =>
      `${plural(changes, "change", "changes")} not saved${errors ? `, ${plural(errors, "error", "errors")}` : ""}`,
  },
};
