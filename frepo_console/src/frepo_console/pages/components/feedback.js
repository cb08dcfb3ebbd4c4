// What a view shows while it loads, when there is nothing, when it fails, and when the token may not see it.

import { html, useEffect, useState } from "../lib/html.js";
import { signOut } from "../lib/api.js";
import { timeOfDay } from "../lib/format.js";
import { t } from "../texts.js";
import { Icon } from "./icons.js";

/** Lines in the place of what loads. They appear after 200 ms only, see `useResource`. */
export const Skeleton = ({ lines = 6 }) =>
  html`<div class="stack" role="status" aria-label=${t.loading}>
    ${Array.from({ length: lines }, () => html`<div class="skel"></div>`)}
  </div>`;

/** Nothing is there. The children are the button that changes this. */
export const Empty = ({ icon, title, text, children }) =>
  html`<div class="empty">
    <${Icon} name=${icon} />
    <h2>${title}</h2>
    ${text && html`<p>${text}</p>`} ${children}
  </div>`;

/** A note in the place where it belongs. `state` gives the colour and the icon, `icon` another icon. */
export const Note = ({ state = "", icon = state, title, children, actions, role }) =>
  html`<div class=${`note ${state}`} role=${role}>
    <${Icon} name=${icon || "more"} isColoured />
    <div class="grow">${title && html`<b>${title}</b>`} ${children && html`<div class="sm">${children}</div>`}</div>
    ${actions}
  </div>`;

/** A button that repeats what failed. */
function Retry({ error, retry }) {
  const [isTrying, setTrying] = useState(false);
  const again = async () => {
    setTrying(true);
    await retry();
    setTrying(false);
  };
  return html`<button type="button" class="btn s" disabled=${isTrying} onClick=${again}>
    <${Icon} name="retry" />${error.action ?? t.tryNow}
  </button>`;
}

/** Why something failed, with a button to try again. `at` is when the shown data is from. */
export function ErrorNote({ error, at, retry }) {
  const title = !error.isTemporary
    ? error.title
    : error.status === 0
      ? t.errors.noAnswer
      : t.errors.temporary(error.status);
  const text = error.isTemporary && at ? t.errors.shownFrom(timeOfDay(at)) : error.message;
  const button = html`<${Retry} error=${error} retry=${retry} />`;
  return html`<${Note} state="overdue" title=${title || text} actions=${retry && button} role="alert"
    >${title && text}<//
  >`;
}

/** Why a chart cannot be shown, in its place. `at` is when the chart below was read, if there is one. */
export function ChartError({ error, at, retry }) {
  const text = [
    at ? t.errors.chartFrom(timeOfDay(at)) : t.errors.noChart,
    error.message.replace(/\.?$/, "."),
    error.isTemporary && error.status > 0 && t.errors.tryLater,
  ];
  return html`<div class="err row" role="alert">
    <${Icon} name="overdue" />
    <p class="grow">${text.filter(Boolean).join(" ")}</p>
    <${Retry} error=${error} retry=${retry} />
  </div>`;
}

/** The token may not see this. `action` is a name in `may` of the API. */
export const NoPermission = ({ action, text = t.errors.noPermission }) =>
  html`<${Note}
    icon="lock"
    title=${text}
    actions=${html`<button class="btn s" onClick=${() => signOut()}>${t.changeToken}</button>`}
  >
    ${t.errors.needsRole} <code>${action}</code>.
  <//>`;

/**
 * The four states of something that is read: an error above what was read before, lines while it loads, and `children`,
 * a function of the data.
 */
export function Loaded({ resource, lines, children }) {
  const { data, error, at, isSlow, retry } = resource;
  return html`${error && html`<${ErrorNote} error=${error} at=${at} retry=${retry} />`}
  ${data !== null ? children(data) : isSlow && !error && html`<${Skeleton} lines=${lines} />`}`;
}

/** The default export of a module that is loaded when it is needed, a component. `wait` is shown until then. */
export function Lazy({ load, wait = null, ...props }) {
  const [loaded, setLoaded] = useState(/** @type {{ View?: Function; error?: Failure }} */ ({}));
  const reload = () =>
    load().then(
      (module) => setLoaded({ View: module.default }),
      async () => setLoaded({ error: await loadError() }),
    );
  useEffect(() => void reload(), [load]);
  if (loaded.error) return html`<${ErrorNote} error=${loaded.error} retry=${loaded.error.retry ?? reload} />`;
  return loaded.View ? html`<${loaded.View} ...${props} />` : wait;
}

/** @type {Failure} */
const OUTDATED = {
  status: 404,
  isTemporary: false,
  title: t.errors.outdated,
  message: t.errors.outdatedText,
  action: t.errors.reload,
  retry: () => location.reload(),
};
/** @type {Failure} */
const OFFLINE = { status: 0, isTemporary: true, message: t.errors.offline };

/** Why a module could not be loaded. `retry`, if there is one, is what helps instead of another try. */
export const loadError = async () => ((await isOutdated()) ? OUTDATED : OFFLINE);

/** Whether the service has got another version of the console since this page was opened: its modules are gone. */
async function isOutdated() {
  const folder = new URL("..", import.meta.url).pathname.split("/").at(-2) ?? "";
  try {
    const answer = await fetch(document.baseURI, { cache: "no-store", credentials: "omit" });
    return answer.ok && !(await answer.text()).includes(folder);
  } catch {
    return false;
  }
}
