// The English texts that several views of the console show, and those of the first one, ready for translation. A text with
// values is a function. Other views have texts of their own in `texts/`.

export const plural = (number, one, many) => `${number} ${number === 1 ? one : many}`;

/** What is there of these parts, with commas between. */
const listed = (...parts) => parts.filter(Boolean).join(", ");

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
  by: (name) => `by ${name}`,
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
    refusedToken: "This token is not valid: it is wrong, expired or revoked.",
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

  slots: {
    failed: (title, name) => `${title} of the package ${name} does not work`,
    silent: (seconds) => `It has not answered within ${seconds} seconds.`,
    ofOne: (title, name) => `${title}: ${name}`,
  },

  states: {
    damaged: "Damaged",
    overdue: "Overdue",
    failed: "Failed",
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

  reasons: {
    damaged: "A version cannot be read",
    overdue: (elapsed) => `No backup for ${elapsed}`,
    failed: "The last backup failed",
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
    newestGood: (number, time) => `Newest good: version ${number}, ${time}`,
    noneGood: "No version is good",
    lastGood: (size, time) => `Last good: ${size}, ${time}`,
    every: (duration) => `Expected every ${duration.replace(/^1 /, "")}`,
    cron: (expression) => `Expected at ${expression}`,
    withGrace: (when, grace) => `${when}, grace ${grace}`,
  },

  noCollections: {
    title: "No collections yet",
    text: "A collection holds the versions of one backup.",
    create: "New collection",
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
    failed: "failed",
    suspicious: "suspicious",
    now: "Now",
    onlySince: (time) => `only those since ${time} are counted`,
    column: (time, arrived, expected) => `${time}: ${expected ? `${expected} expected` : `${arrived} arrived`}`,
    summary: ({ arrived, overdue, late, failed, full, suspicious }) =>
      listed(
        `${plural(arrived, "backup", "backups")} arrived`,
        overdue && `${overdue} missing`,
        late && `${late} late`,
        failed && `${failed} failed`,
        full && `${full} refused`,
        suspicious && `${suspicious} suspicious`,
      ),
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
    good: "Good versions",
    verdicts: ({ broken, suspicious, pending }) =>
      listed(broken && `${broken} broken`, suspicious && `${suspicious} suspicious`, pending && `${pending} pending`),
    noneBad: "none is broken or suspicious",
    tested: "Restore-tested",
    untested: ({ broken, untested, never }, time) =>
      listed(broken && `${broken} broken`, untested && `${untested} not for ${time}`, never && `${never} never`) ||
      "collections, all in time",
    unchanged: "Unchanged",
    unchangedFor: (nights) => `for ${nights} nights or longer`,
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

  noEvents: "Nothing has happened yet",
  events: {
    "version.added": (e) => `Version ${e.version_number} received`,
    "version.refused": () => "Upload refused",
    "version.suspicious": (e) => `Version ${e.version_number} looks wrong`,
    "version.quarantined": (e) => `Version ${e.version_number} quarantined`,
    "version.kind_changed": (e) => `Version ${e.version_number} has another format`,
    "version.released": (e) => `Version ${e.version_number} released from quarantine`,
    "version.condemned": (e) => `Version ${e.version_number} found broken`,
    "version.unjudged": (e) => `Version ${e.version_number} could not be checked in time`,
    "version.evicted": (e) => `Version ${e.version_number} replaced`,
    "version.deleted": (e) => `Version ${e.version_number} deleted`,
    "version.restored": (e) => `Version ${e.version_number} restored from the trash`,
    "version.pinned": (e) => `Version ${e.version_number} pinned`,
    "version.unpinned": (e) => `Version ${e.version_number} unpinned`,
    "version.noted": (e) => `Note of version ${e.version_number} changed`,
    "version.checked": (e) => `Version ${e.version_number} checked: ${e.data.outcome}`,
    "version.downloaded": (e) => `Version ${e.version_number} downloaded`,
    "upload.aborted": () => "Upload broke off",
    "run.failed": () => "Backup job failed",
    "run.reported": () => "Backup job skipped",
    "trash.ended": (e) => `Version ${e.version_number} deleted for good${e.data.early ? ", before its time" : ""}`,
    "collection.created": () => "Collection created",
    "collection.edited": () => "Collection edited",
    "collection.deleted": () => "Collection deleted",
    "collection.restored": () => "Collection restored from the trash",
    "collection.moved": (e) => `Collection moved to ${e.data.storage}`,
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
    "enrolment.created": () => "One-time code made",
    "enrolment.used": () => "Host enrolled",
    "enrolment.revoked": () => "One-time code revoked",
    "token.rotated": () => "Token rotated",
    "token.revoked": () => "Token revoked",
    "token.expired": () => "Token expired",
    "blob.damaged": () => "Damage found",
    "blob.healed": () => "Damage healed",
    "copy.damaged": () => "Second copy damaged",
    "mirror.late": () => "Second copies are late",
    "mirror.recovered": () => "Second copies are up to date again",
    "blob.fell_back": (e) => `Read from another copy than that in ${e.data.storage}`,
    "storage.full": () => "Storage full",
    "storage.unavailable": () => "Storage unavailable",
    "storage.recovered": () => "Storage works again",
    "storage.disputed": () => "Storage may belong to another database",
    "storage.adopted": () => "Storage adopted",
    "storage.promoted": (e) => `${e.data.storage} is the first storage now, instead of ${e.data.former}`,
    "message.sent": (e) => e.data.title,
    "job.failed": (e) => `Job ${e.data.job} failed`,
    "job.recovered": (e) => `Job ${e.data.job} works again`,
  },
};
