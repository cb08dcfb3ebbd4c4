// The views of the console: their place in the menu, the key that opens them after `g`, and the module of each.

/** `needs` is an action of `lib/access.js`: without it the view is not in the menu. */
export const VIEWS = [
  { name: "overview", key: "o", needs: ["overview.view", "collections.list"], load: () => import("./views/overview.js") },
  { name: "collections", key: "c", needs: ["collections.list"], load: () => import("./views/collections.js") },
  { name: "files", key: "f", needs: ["files.list", "files.upload"], load: () => import("./views/files.js") },
  { name: "tokens", key: "t", needs: ["tokens.list"], load: () => import("./views/tokens.js") },
  { name: "events", key: "e", needs: ["events.view"], load: () => import("./views/events.js") },
  { name: "health", key: "h", needs: ["jobs.view", "settings.view"], load: () => import("./views/health.js") },
];

/** The view of a path, and whether the token may see it. */
export const isAllowed = (view, access) => view.needs.some((action) => access.may(action));
