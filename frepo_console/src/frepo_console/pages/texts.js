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

/** The names of fields in the API, as the forms call them. */
const FIELDS = {
  "guards.max_shrink_percent": "“Smaller than usual by more than”",
  "guards.max_growth_percent": "“Larger than usual by more than”",
  "guards.max_decline_percent": "“Declines in thirty nights by more than”",
  "guards.min_version_size": "“Smallest believable version”",
  "guards.min_retention": "“Keep each version at least for”",
  "guards.on_suspicious": "“What to do with a suspicious version”",
  "limits.versions": "“Most versions”",
  "limits.version_size": "“Largest version”",
  "limits.total_size": "“Largest size of all versions”",
  expected_every: "“A backup is expected every”",
  expires_at: "“Expires”",
};
const FIELD = new RegExp(`\\b(${Object.keys(FIELDS).join("|").replaceAll(".", "\\.")})\\b`, "g");

/** A message of the service with the words of the forms for the fields of the API. */
export const inWords = (text) => text.replace(FIELD, (name) => FIELDS[name]);

export const t = {
  product: "frepo",
  loading: "Loading",
  tryNow: "Try now",
  close: "Close",
  cancel: "Cancel",
  save: "Save",
  discard: "Discard",
  asItIs: "as it is",
  leave: (values) => `as it is: ${values}`,
  now: (values) => `Now: ${values}`,
  changeField: (label) => `Change: ${label}`,
  yesOrNo: { yes: "Yes", no: "No" },
  copy: "Copy",
  copied: "Copied",
  showMore: "Show more",
  wrongFields: (number) => `${plural(number, "field is", "fields are")} wrong: see there.`,
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
    problem: "Problem",
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
    failingChecks: (number) => `${plural(number, "check has", "checks have")} found problems`,
    zone: (name) => `Times of ${name}`,
    attentionUnknown: "How many need attention cannot be read now",
    theme: { system: "Light or dark: as the system", light: "Light", dark: "Dark" },
    shortcuts: "Keyboard shortcuts",
  },

  tray: {
    text: (active, failed, share) =>
      listed(
        active && `${plural(active, "transfer runs", "transfers run")}, ${share}`,
        failed && `${plural(failed, "transfer", "transfers")} failed`,
      ),
    show: "Show",
  },

  reasons: {
    damaged: "A version cannot be read",
    overdue: (elapsed) => `No backup for ${elapsed}`,
    neverSent: "Nothing has ever been sent",
    because: (cause, absent) => `${cause}, ${absent[0].toLowerCase()}${absent.slice(1)}`,
    failed: "The last backup failed",
    full: "The last upload was refused",
    suspicious: (number) => `Version ${number} looks wrong`,
    quarantined: "Newest version quarantined",
    late: (elapsed) => `${elapsed} late`,
    new: "No version",
  },

  causes: { failed: "The last backup failed", full: "Refused", suspicious: "The newest looks wrong" },

  details: {
    damaged: (versions) => `${plural(versions, "version", "versions")} are kept`,
    reported: (since) => `Reported ${since}`,
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

  newServer: "New server",

  noCollections: {
    title: "No collections yet",
    text: "A collection holds the versions of one backup.",
    create: "New collection",
    steps: [
      "Make a collection: it holds the versions of one backup.",
      "Make a token for the server that sends them.",
      "Copy the line for cron to that server. The button makes all three.",
    ],
    demo: "To look around first, stop the service and fill it with a hundred collections:",
  },

  labels: {
    title: (number) => `${plural(number, "collection is", "collections are")} backed up`,
    dots: (days) => `a dot for each of the last ${days} days (UTC)`,
    none: "without a label",
    line: (number, age) => `${plural(number, "collection", "collections")}, the oldest backup ${age} ago`,
    oldest: (age) => `the oldest backup is ${age} old`,
    all: "Show all",
    noneMissed: "No day was missed",
    missed: (days) => `Missed: ${days}`,
    day: (day, arrivals, missed) => `${day}: ${listed(`${arrivals} arrived`, missed && `${missed} missed`)}`,
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
    fullOn: (date, growth) => `full on ${date}, at ${growth} a day`,
    grows: (growth) => `not full within five years, at ${growth} a day`,
    shrinks: (growth) => `not full within five years: ${growth} less each day`,
    growsOnly: (growth) => `${growth} more each day`,
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
    compacted: "Deduplicated and compacted",
    saved: (share) => `saved: ${share} less than was sent`,
    uploads: "Uploads in 24 hours",
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
  },

  noEvents: "Nothing has happened yet",
};
