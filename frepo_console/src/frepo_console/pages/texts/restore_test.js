// The texts of how a collection is restore-tested.

export const t = {
  title: "Restore test",
  used: (engine) => `Restored by the engine ${engine}.`,
  none: "No engine is chosen, neither here nor by a label: the command of the service tests it, if there is one.",
  asserts: (names) => `Compared: ${names}.`,
  last: (number, time) => `Version ${number}, ${time}:`,
  choose: "Choose engine and assertions",
  dialog: "How this collection is restore-tested",
  engine: "Engine",
  byLabel: "That of its labels",
  name: "Name of a new assertion",
  nameHint: "Small letters, digits and underscores, for example rows",
  add: "Add assertion",
  remove: (name) => `Remove ${name}`,
  fields: {
    question: "Question to the copy",
    min: "At least",
    max: "At most",
    newest_within: "Not older than, when the version arrives",
    span: "Percent it may differ from the source",
  },
  noNumber: (text) => `“${text}” is not a number`,
};
