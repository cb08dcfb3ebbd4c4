// The texts of the second copies, on the overview.

export const t = {
  title: "Second copy",
  complete: "No content waits for its copy",
  unknown: "Contents were not compared with their copies yet. The job mirror does so.",
  behind: (number, shown, bytes, since, versions) =>
    `${shown} ${number === 1 ? "content waits" : "contents wait"} for a copy, ${bytes}, the oldest since ${since}; versions with one copy: ${versions}`,
  late: "That is longer than mirror.max_lag allows. The job mirror says why.",
  states: { full: "The storage is full.", unavailable: "The storage is unavailable, or not the one it was." },
  skipped: "The storage has failed several times, and is skipped for seconds.",
  stopped: (number, command) =>
    `${number} deletions are stopped, because they are too many at once. If they are right: ${command}`,
  damaged: (number) => `${number} copies are wrong or missing, and are made again.`,
  compared: (when) => `compared with all contents ${when}`,
  checked: (when) => (when ? `both sides were read ${when}` : "never read as a whole"),
};
