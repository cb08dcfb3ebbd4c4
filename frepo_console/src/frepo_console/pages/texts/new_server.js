// The texts of the dialog for a new server.

export const t = {
  title: "New server",
  name: "Name of its backup",
  nameHint: "The name of the file that it sends, such as db7.sql",
  what: "This makes a collection that expects a backup each day, and a token that may only send to it.",
  withCron: "Create, with the line for cron",
  withClient: "Create, with a code for frepo-client",
  tokenName: (name) => `server of ${name}`,
  made: (name) => `${name} waits for its first backup`,
  paste: "Paste this on the server, as root. Change the time, and the command that writes the dump.",
  once: "The token is in these lines, and is not shown again. The file is readable for its owner alone.",
  open: "Open the collection",
};
