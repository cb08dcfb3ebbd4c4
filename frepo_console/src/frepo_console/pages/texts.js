// All English texts of the console, ready for translation. A text with values is a function.

const plural = (number, one, many) => `${number} ${number === 1 ? one : many}`;

function verdictOfOne(states) {
  if (states.new) return "The collection has no backup";
  return states.late ? "The backup of the collection is late" : "The collection is backed up";
}

function verdictOfMany({ ok, new: empty }, total) {
  if (ok === total) return `All ${total} collections are backed up`;
  if (empty === total) return `None of the ${total} collections has a backup`;
  if (ok === 0) return `None of the ${total} collections is backed up as expected`;
  return `${ok} of ${total} collections ${ok === 1 ? "is" : "are"} backed up as expected`;
}

export const t = {
  product: "frepo",
  loading: "Loading",
  tryNow: "Try now",
  close: "Close",
  cancel: "Cancel",
  save: "Save",
  discard: "Discard",
  copy: "Copy",
  copied: "Copied",
  showMore: "Show more",
  clear: "Clear",
  clearFilters: "Clear filters",
  changeToken: "Change token",
  never: "never",
  none: "none",
  selectAll: "Select all",
  select: (name) => `Select ${name}`,
  selected: (number) => `${number} selected`,
  shown: (shown, hasMore) => (hasMore ? `The first ${shown} are shown` : `${shown} shown`),
  shownOf: (shown, total) => `${shown} of ${total} shown`,
  updated: (time) => `updated ${time}`,
  versions: (number) => plural(number, "version", "versions"),
  collections: (number) => plural(number, "collection", "collections"),
  tokensCount: (number) => plural(number, "token", "tokens"),
  days: (number) => plural(number, "day", "days"),

  errors: {
    unknown: (status) => `The service answered ${status}`,
    offline: "The service cannot be reached. Check the network, and that the service runs.",
    outdated: "frepo was updated",
    outdatedText: "This page is of the version before. Uploads that run are lost if it is read again.",
    reload: "Read the page again",
    noAnswer: "The service does not answer",
    temporary: (status) => `The service does not answer (${status})`,
    shownFrom: (time) => `What you see is from ${time}. It is read again every few seconds.`,
    noChart: "This chart cannot be shown.",
    chartFrom: (time) => `This chart was read at ${time}, and cannot be read again.`,
    tryLater: "Try again in a moment. If the error stays, look at the log of the service.",
    noPermission: "This token may not see this",
    needsRole: "It needs a role that allows",
    notFound: "This page does not exist",
    notFoundText: "The address is wrong, or what it named was deleted.",
    toOverview: "Go to the overview",
    noBrowser: "This browser cannot do this",
  },

  states: {
    damaged: "Damaged",
    overdue: "Overdue",
    full: "Full",
    suspicious: "Suspicious",
    late: "Late",
    new: "New",
    ok: "OK",
  },

  menu: {
    label: "Main",
    skip: "Skip to content",
    overview: "Overview",
    collections: "Collections",
    files: "Files",
    tokens: "Tokens",
    events: "Events",
    health: "Health",
    signOut: "Sign out",
    readOnly: "Read-only: nothing can be changed now",
    more: "More",
    needAttention: (number) => `${plural(number, "needs", "need")} attention`,
    attentionUnknown: "How many need attention cannot be read now",
    theme: { system: "Light or dark: as the system", light: "Light", dark: "Dark" },
    shortcuts: "Keyboard shortcuts",
  },

  shortcuts: {
    title: "Keyboard shortcuts",
    on: "Use shortcuts of single letters",
    list: [
      ["/", "search"],
      ["g then o c f t e h", "go to a view: Overview, Collections, Files, Tokens, Events, Health"],
      ["j k or arrows", "next and previous row"],
      ["Enter", "open"],
      ["x", "select"],
      ["Shift+x", "select up to here"],
      ["n", "new"],
      ["u", "upload"],
      ["d", "download"],
      ["p", "pin"],
      ["Esc", "close, then clear the selection"],
      ["?", "this list"],
    ],
  },

  signIn: {
    title: "Sign in",
    text: "frepo knows no users and passwords: a token says what you may do.",
    token: "Token",
    button: "Sign in",
    memory: "Forget the token when the page is reloaded",
    refused: "This token is not valid: it is wrong, expired or revoked.",
    whereTitle: "Where is a token?",
    where: [
      ["make serve", "prints a link that signs in, and writes the administrator's token to var/admin-token."],
      ["frepo auth:generate-admin-token", "makes a token of an administrator, on the machine of the service."],
      ["Tokens", "in this console: who may create tokens makes one for you."],
    ],
    replaceTitle: "Sign in with the token of this link?",
    replaceText:
      "You are signed in already. The link has another token, which replaces yours in this tab. If you have not opened this link yourself, stay signed in.",
    replace: "Sign in with the link",
    privacy: "The token stays in this tab. It is sent to this service only, and in no URL.",
  },

  by: (name) => `by ${name}`,

  reasons: {
    damaged: "A version cannot be read",
    overdue: (elapsed) => `No backup for ${elapsed}`,
    full: "The last upload was refused",
    suspicious: (number) => `Version ${number} looks wrong`,
    quarantined: "Newest version quarantined",
    late: (elapsed) => `${elapsed} late`,
    new: "No version",
  },
  details: {
    damaged: (versions) => `${plural(versions, "version", "versions")} are kept`,
    used: (value, limit) => `${value} of ${limit}`,
    kept: (used, time) => `${used}, each kept for ${time}`,
    late: (due, end) => (end ? `Was due ${due}, grace until ${end}` : `Was due ${due}`),
    new: (created) => `Created ${created}`,
    lastGood: (size, time) => `Last good: ${size}, ${time}`,
    every: (duration) => `Expected every ${duration.replace(/^1 /, "")}`,
    cron: (expression) => `Expected at ${expression}`,
    withGrace: (when, grace) => `${when}, grace ${grace}`,
  },

  overview: {
    verdict: (states, bad, total) => {
      if (total === 0) return "Nothing is backed up yet";
      if (bad > 0)
        return `${bad} of ${plural(total, "collection", "collections")} ${bad === 1 ? "needs" : "need"} attention`;
      return total === 1 ? verdictOfOne(states) : verdictOfMany(states, total);
    },
    summary: (states, failingJobs) => {
      const parts = [`${states.ok} ${states.ok === 1 ? "is" : "are"} backed up as expected`];
      if (states.late) parts.push(`${states.late} ${states.late === 1 ? "is" : "are"} late within the grace`);
      if (states.new) parts.push(`${states.new} ${states.new === 1 ? "is" : "are"} new`);
      return `${parts.join(", ")}.${failingJobs ? ` ${plural(failingJobs, "job", "jobs")} failed.` : ""}`;
    },
    onlyShown: (number) => `Only the worst ${number} are shown.`,
    onlyCounted: (number) => `Only the worst ${number} are shown and counted.`,
    byState: "Collections by state",
    showAll: (number) => `Show all ${number}`,
    bars: "Bars: how much each collection stored on the last 10 days.",
    sizes: (name) => `Sizes of ${name} on the last 10 days`,
  },

  arrivals: {
    title: "Last 24 hours",
    arrived: "arrived",
    severalArrived: (number) => `${number} arrived`,
    expected: "expected",
    overdue: "missing",
    late: "late",
    full: "refused",
    suspicious: "suspicious",
    now: "Now",
    onlySince: (time) => `only those since ${time} are counted`,
    column: (time, arrived, expected) => `${time}: ${expected ? `${expected} expected` : `${arrived} arrived`}`,
    summary: ({ arrived, overdue, late, full, suspicious }) =>
      [
        `${plural(arrived, "backup", "backups")} arrived`,
        overdue && `${overdue} missing`,
        late && `${late} late`,
        full && `${full} refused`,
        suspicious && `${suspicious} suspicious`,
      ]
        .filter(Boolean)
        .join(", "),
  },

  storage: {
    title: "Storage",
    range: "Range",
    ranges: { 30: "30 days", 182: "6 months", 730: "2 years" },
    fullOn: (date, growth) => `full about ${date} at ${growth} a day`,
    grows: (growth) => `${growth} more each day`,
    shrinks: (growth) => `${growth} less each day`,
    free: (size) => `${size} free`,
    stored: "stored",
    forecast: "forecast from the last 30 days",
    capacity: (size) => `capacity, ${size}`,
    label: (stored, sentence) => `${stored} are stored. ${sentence}`,
    tooNew: "The curve begins when the second daily sample is written.",
  },

  figures: {
    title: "Figures",
    stored: "Stored",
    blobs: (number) => `${number} different contents`,
    free: "Free space",
    unknown: "unknown",
    freeOf: (share, total) => `${share} of ${total}`,
    freeIn: (storage) => `in the storage ${storage}`,
    notReported: (storage) => `the storage ${storage} does not report it`,
    sent: "Sent by clients",
    inVersions: (number, shown) => `in ${shown} ${number === 1 ? "version" : "versions"}, and files`,
    deduplication: "Deduplication",
    saves: (size) => `saves ${size}`,
    uploads: "Uploads in 24 h",
    refused: (number) => `${number} refused`,
    damaged: "Damaged",
    damagedText: "contents cannot be read",
    undamaged: "all contents can be read",
  },

  lists: {
    events: "Last events",
    allEvents: "All events",
    jobs: "Jobs",
    history: "History",
    running: "Runs now",
    runNow: "Run now",
    off: "off",
    outcomes: { ok: "Succeeded", overdue: "Failed", new: "Has not run" },
  },

  events: {
    "version.added": (e) => `Version ${e.version_number} received`,
    "version.refused": () => "Upload refused",
    "version.suspicious": (e) => `Version ${e.version_number} looks wrong`,
    "version.quarantined": (e) => `Version ${e.version_number} quarantined`,
    "version.released": (e) => `Version ${e.version_number} released from quarantine`,
    "version.evicted": (e) => `Version ${e.version_number} replaced`,
    "version.deleted": (e) => `Version ${e.version_number} deleted`,
    "version.restored": (e) => `Version ${e.version_number} restored from the trash`,
    "version.pinned": (e) => `Version ${e.version_number} pinned`,
    "version.unpinned": (e) => `Version ${e.version_number} unpinned`,
    "version.noted": (e) => `Note of version ${e.version_number} changed`,
    "version.checked": (e) => `Version ${e.version_number} checked: ${e.data.outcome}`,
    "version.downloaded": (e) => `Version ${e.version_number} downloaded`,
    "trash.ended": (e) => `Version ${e.version_number} deleted for good${e.data.early ? ", before its time" : ""}`,
    "collection.created": () => "Collection created",
    "collection.edited": () => "Collection edited",
    "collection.deleted": () => "Collection deleted",
    "collection.restored": () => "Collection restored from the trash",
    "collection.overdue": () => "Backup overdue",
    "collection.recovered": () => "Backup arrived again",
    "collection.full": () => "Collection full",
    "collection.access_granted": () => "Access granted",
    "collection.access_revoked": () => "Access removed",
    "file.added": () => "File uploaded",
    "file.edited": () => "File edited",
    "file.deleted": () => "File deleted",
    "file.downloaded": () => "File downloaded",
    "alias.created": () => "Alias created",
    "alias.edited": () => "Alias changed",
    "alias.deleted": () => "Alias deleted",
    "token.created": () => "Token created",
    "token.edited": () => "Token edited",
    "token.rotated": () => "Token rotated",
    "token.revoked": () => "Token revoked",
    "token.expired": () => "Token expired",
    "blob.damaged": () => "Damage found",
    "blob.healed": () => "Damage healed",
    "storage.full": () => "Storage full",
    "storage.unavailable": () => "Storage unavailable",
    "storage.recovered": () => "Storage works again",
    "storage.disputed": () => "Storage may belong to another database",
    "storage.adopted": () => "Storage adopted",
    "job.failed": (e) => `Job ${e.data.job} failed`,
    "job.recovered": (e) => `Job ${e.data.job} works again`,
  },

  collectionsView: {
    empty: "No collections yet",
    emptyText: "A collection holds the versions of one backup.",
    new: "New collection",
    search: "Search names and descriptions",
    label: "Label, then Enter",
    removeLabel: "Remove this filter",
    allStrategies: "All strategies",
    all: "All",
    csv: "CSV",
    noMatch: (text) => (text ? `Nothing matches “${text}”` : "No collection matches"),
    filter: (names) => `Filter: ${names}`,
  },

  table: {
    state: "State",
    name: "Name",
    last: "Last version",
    lastShort: "last",
    size: "Size",
    sizeShort: "size",
    stored: "Stored, 20 days",
    versions: "Versions",
    next: "Next expected",
    nextShort: "next",
    notSet: "not set",
    actions: "Actions",
  },

  selection: {
    interval: "Expected interval",
    access: "Grant access",
    intervalTitle: (number) => `When ${plural(number, "collection expects", "collections expect")} a backup`,
    accessTitle: (number) => `Grant access to ${plural(number, "collection", "collections")}`,
    change: (number) => `Change ${plural(number, "collection", "collections")}`,
    grant: "Grant access",
    token: "Token",
    fingerprint: "Fingerprint of the token",
    choose: "Choose a token",
    noName: "without a name",
    failed: (name, message, done, all) => `${name}: ${message} ${done} of ${all} are changed.`,
  },

  form: {
    name: "Name",
    nameHint: "The name of the file, such as shop.sql.gz",
    description: "Description",
    labels: "Labels",
    labelsHint: "Separated by commas",
    expected: "Expected every",
    expectedHint: "1 day, 6 h, or cron with a time zone; empty: not watched",
    grace: "Grace",
    graceHint: "Empty: a tenth of the interval",
    strategy: "Which versions are kept",
    strategies: {
      keep: "Daily, weekly, monthly and so on",
      delete_oldest_when_adding_new: "The newest; the oldest is deleted when it is full",
      alert_when_backup_limit_reached: "All; a full collection refuses uploads",
    },
    keep: "Keep the newest",
    rules: { last: "Last", hourly: "Hourly", daily: "Daily", weekly: "Weekly", monthly: "Monthly", yearly: "Yearly" },
    limits: "At most",
    guards: "Suspicious is a version that is smaller",
    maxVersions: "Versions",
    maxVersionSize: "One version",
    maxTotalSize: "All together",
    limitsHint: "An empty limit is that of the service. Sizes: 3 GB, 500 MiB.",
    maxShrink: "By more than %",
    minSize: "Than",
    minRetention: "Kept at least",
    minRetentionHint: "Versions are not evicted before",
    drag: (rule) => `${rule}, to drag`,
    onSuspicious: "A suspicious version",
    actions: { quarantine: "is quarantined (best)", mark: "is marked", refuse: "is refused" },
    create: "Create collection",
    badSize: (text) => `“${text}” is not a size. Write 3GB or 3GiB.`,
    badDuration: (text) => `“${text}” is not a duration. Write 1 day or 6 h.`,
    badNumber: (text) => `“${text}” is not a whole number.`,
  },

  noEvents: "Nothing has happened yet",

  collection: {
    gone: "This collection does not exist",
    sections: "Sections",
    tabs: {
      versions: "Versions",
      settings: "Settings and retention",
      access: "Access",
      send: "Send backups here",
      events: "Events",
    },
    since: (time) => `since ${time}`,
    download: (number) => `Download ${number}`,
    upload: "Upload",
    drop: "Drop a file here.",
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
        "The stored bytes are not what was uploaded. The other versions are not affected. An upload of the same content heals it.",
      overdue: "Look at the backup job of this collection, and at the log of its client.",
      full: "Raise the limits in the settings, delete versions, or choose a strategy that makes room.",
      suspicious:
        "Compare it with the version before. One in quarantine does not count: release it if it is right, or delete it.",
      late: "The backup is within its grace.",
    },
    fullOfYoung: (time) =>
      `No version is deleted before it is ${time} old. Raise the limits, or lower the minimum retention in the settings.`,
  },

  facts: {
    title: "Figures",
    last: "Last version",
    lastText: (number, time) => `version ${number}, ${time}`,
    next: "Next expected",
    unwatched: "nobody is told if it is late",
    versions: "Versions",
    stored: "Stored",
    of: (limit) => `of ${limit}`,
    unlimited: "no limit",
    pinned: (number) => `${number} pinned`,
    quarantined: (number) => `${number} quarantined`,
    trash: "Trash",
    trashText: "can be restored",
  },

  versions_: {
    version: "Version",
    received: "Received",
    change: "Change",
    changeShort: "change",
    checks: "Checks",
    number: (number) => `version ${number}`,
    none: "No versions yet",
    noneText: "Upload a file, or see how to send backups here.",
    pinned: "Pinned",
    quarantined: "Quarantined",
    quarantineText: "Does not count, evicts nothing",
    overtakenText:
      "Arrived after newer ones: a leftover of an upload that was given up. Does not count, evicts nothing",
    unchecked: "not checked",
    unknown: "unknown",
    unreadable: "cannot be read",
    outcomes: { good: "good", broken: "broken", pending: "waits", "not checked": "not checked" },
    downloadOne: (name) => `Download ${name}`,
    pinOne: (name, isPinned) => `${isPinned ? "Unpin" : "Pin"} ${name}`,
    noteOne: (name) => `Note of ${name}`,
    deleteOne: (name) => `Delete ${name}`,
    release: "Release",
    note: "Note",
    noteTitle: (number) => `Note of version ${number}`,
    deleteTitle: (number, numbers) => (number === 1 ? `Delete version ${numbers}?` : `Delete ${number} versions?`),
    toTrash: (number, numbers, bytes, until) =>
      `This moves ${number === 1 ? "version" : "versions"} ${numbers}, ${bytes}, to the trash until ${until}.`,
    deleted: (number, numbers, bytes) =>
      `This deletes ${number === 1 ? "version" : "versions"} ${numbers}, ${bytes}, for good: this service has no trash.`,
    moveToTrash: (number) => `Move ${number} to trash`,
    delete: (number) => `Delete ${plural(number, "version", "versions")}`,
    pinnedStay: (number) => `${plural(number, "pinned version stays", "pinned versions stay")}.`,
  },

  charts: {
    versions: "Versions",
    versionsText: (number) => `height: size, the last ${number}`,
    kinds: { kept: "kept", pinned: "pinned", suspicious: "suspicious", damaged: "damaged" },
    bar: (number, bytes) => `Version ${number}: ${bytes}`,
    sizes: "Size of each upload",
    sizesLabel: (first, last, number) => `The sizes of ${number} versions went from ${first} to ${last}`,
    guard: (percent) => `dotted: ${percent} % of the newest, below which an upload is suspicious`,
    tooFew: "The curve begins with the second version.",
  },

  calendar: {
    title: "A year of backups",
    summary: (arrived, days, isCut) =>
      `backups on ${arrived} of ${days} days${isCut ? ", earlier days are not read" : ""}`,
    day: (arrived, kind) =>
      [arrived && plural(arrived, "backup", "backups"), ["suspicious", "refused"].includes(kind) && kind]
        .filter(Boolean)
        .join(", ") || (kind === "unread" ? "not read" : "no backup"),
    kinds: { arrived: "arrived", suspicious: "suspicious", refused: "refused", none: "no backup" },
  },

  trash: {
    title: "Trash",
    text: "can be restored, does not count towards limits",
    reasons: {
      evicted: "evicted",
      deleted: "deleted",
      collection_deleted: "deleted with the collection",
      quarantine_surplus: "left the quarantine",
    },
    until: (time) => `until ${time}`,
    restore: "Restore",
    end: "Delete now",
    endTitle: (number) => `Delete version ${number} for good?`,
    endText: (bytes) => `${bytes} are deleted now and cannot be restored.`,
    endAction: "Delete for good",
  },

  deleted: {
    title: "Deleted collections",
    at: (time) => `deleted ${time}`,
    endTitle: (name) => `Delete ${name} for good?`,
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

  rights: {
    administrator: "Administrator",
    send: "Send backups",
    read: "Read",
    delete: "Delete",
    other: (number) => plural(number, "role", "roles"),
  },

  send: {
    kinds: "Tools",
    names: { curl: "curl", cron: "cron", systemd: "systemd timer", bahub: "bahub", newman: "newman" },
    hint: "The token needs the role to upload to this collection, and to be on its list.",
  },

  settings: {
    title: "Settings",
    unsaved: (changes, errors) =>
      `${plural(changes, "change", "changes")} not saved${errors ? `, ${plural(errors, "error", "errors")}` : ""}`,
  },

  transfers: {
    title: "Uploads and downloads",
    choose: "Choose a file",
    retry: "Retry",
    cancelled: "Cancelled",
    retrying: "The connection was lost. It is tried again.",
    checking: "Comparing the SHA-256",
    checked: "Complete, the SHA-256 is right",
    hashing: "Computing the SHA-256",
    differs: "The service received other bytes than this browser sent. Delete them, and upload the file again.",
    damagedDownload: "The bytes that arrived are not those of the version. Download it again.",
    notWritten: (reason) => `The file cannot be written: ${reason}`,
    changed: "The content was changed meanwhile. Download it again.",
    count: (done, all, speed) => [`${done} of ${all} done`, speed && `${speed}/s`].filter(Boolean).join(", "),
    cancelAll: "Cancel all",
    cancelOne: (name) => `Cancel ${name}`,
    states: {
      waiting: "Waits",
      hashing: "Computing the SHA-256",
      running: "Running",
      retrying: "Tries again",
      checking: "Comparing",
      done: "Complete",
      failed: "Failed",
      cancelled: "Cancelled",
    },
    progress: (name, share) => `${name}: ${share}`,
    moved: (moved, whole) => `${moved} of ${whole}`,
    speed: (bytes) => `${bytes}/s`,
    left: (time) => `${time} left`,
    remove: (name) => `Remove ${name} from this list`,
  },

  simulator: {
    title: "Retention simulator",
    what: "Which versions",
    own: "This collection",
    imagined: "Imagined schedule",
    every: "One every",
    growth: "% a month",
    duration: "For",
    keeps: (kept, all, bytes) => `Keeps ${kept} of ${all} versions, ${bytes}.`,
    now: (versions, bytes) => `Now ${versions}, ${bytes}.`,
    day: (versions) =>
      versions.length
        ? versions
            .map((one) => `version ${one.number}, ${one.kept ? `kept ${one.rules.join(", ")}` : "evicted"}`)
            .join("; ")
        : "no version",
    kinds: { often: "last, hourly, daily", weekly: "weekly", monthly: "monthly, yearly", evicted: "evicted" },
    refused: (number) => `${plural(number, "upload is", "uploads are")} refused`,
    goes: (number, bytes) => `The next upload would evict ${plural(number, "version", "versions")}, ${bytes}`,
    nothingGoes: "The next upload would evict nothing.",
    needed: "Storage needed",
    neededLabel: (last, peak) => `${last} at the end, at most ${peak}`,
    dashed: "dashed: with the trash",
    dotted: (size) => `dotted: the limit, ${size}`,
  },
};
