// The token of this tab. It is in sessionStorage, which a tab has for itself, or only in memory if the person says so.

const KEY = "frepo.token";
const listeners = new Set();
let token = sessionStorage.getItem(KEY);

export const currentToken = () => token;

/** Call `listener` after each sign in and sign out. Return a function that ends this. */
export function onSessionChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function signIn(value, { isKept = true } = {}) {
  token = value;
  sessionStorage.removeItem(KEY);
  if (isKept) sessionStorage.setItem(KEY, value);
  for (const listener of listeners) listener();
}

/** Forget the token. `reason` is shown on the page to sign in. */
export function signOut(reason = "") {
  if (token === null) return;
  token = null;
  sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener(reason);
}

/** Take the token of a link `/ui/#token=...`, and remove it from the address bar and the history. */
export function takeTokenFromLink() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", "#/");
  let value = found[1];
  try {
    value = decodeURIComponent(value);
  } catch {
    // It is not encoded.
  }
  signIn(value);
}
