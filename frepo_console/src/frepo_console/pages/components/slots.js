// What plug-ins show in places of the console. The module of a slot is loaded when its place is shown; one that fails or
// does not answer is named, and the rest of the page works.

import { html, useContext, useEffect, useRef, useState } from "../lib/html.js";
import { About } from "../lib/access.js";
import { read, send } from "../lib/api.js";
import { count, date, dateTime, relative, size } from "../lib/format.js";
import { t } from "../texts.js";
import { Confirm, Dialog } from "./dialog.js";
import { Note, Skeleton } from "./feedback.js";
import { Icon } from "./icons.js";

const SLOW_MS = 200;
const DEADLINE_SECONDS = 10;

/** The slots of a place that are for the collection, if it is about one, in the order of the service. */
export const useSlots = (place, collection) =>
  useContext(About).slots.filter((slot) => slot.place === place && isFor(collection, slot.applies_to));

function isFor(collection, names) {
  if (!names.length) return true;
  const own = [`strategy:${collection.strategy}`, ...collection.labels.map((label) => `label:${label}`)];
  return names.some((name) => own.includes(name));
}

/** All slots of a place. */
export default function Slots({ place, ...given }) {
  return useSlots(place, given.collection).map((slot) => html`<${Slot} key=${slot.name} slot=${slot} ...${given} />`);
}

/** The buttons of a version. `open` is called with the slot that a person chooses. */
export function SlotButtons({ collection, name, open }) {
  return useSlots("version.action", collection).map((slot) => {
    const label = t.slots.ofOne(slot.title, name);
    return html`<button
      key=${slot.name}
      class="btn bare s"
      aria-label=${label}
      title=${label}
      onClick=${() => open(slot)}
    >
      <${Icon} name="page" />
    </button>`;
  });
}

/** One slot. `collection` and `version` are what its place is about; `close` closes the dialog of a button. */
export function Slot({ slot, collection, version, changed, close }) {
  const about = useContext(About);
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const latest = useRef(changed);
  latest.current = changed;
  const [state, setState] = useState({ isReady: false, isSlow: false, isEmpty: true, failure: "" });
  const [question, setQuestion] = useState(/** @type {Question | null} */ (null));
  useEffect(() => {
    const { current } = element;
    const ended = new AbortController();
    const change = (more) => ended.signal.aborted || setState((known) => ({ ...known, ...more }));
    const slow = setTimeout(() => change({ isSlow: true }), SLOW_MS);
    const late = setTimeout(() => change({ failure: t.slots.silent(DEADLINE_SECONDS) }), DEADLINE_SECONDS * 1000);
    const watch = new MutationObserver(() => change({ isEmpty: !current?.hasChildNodes() }));
    if (current) watch.observe(current, { childList: true });
    // What a module gets: docs/plugins/console.md promises these names.
    const given = {
      ...{ api: { read, send }, format: { count, date, dateTime, relative, size }, about, collection, version },
      ...{ confirm: setQuestion, changed: () => latest.current?.(), signal: ended.signal },
    };
    start(slot, current, given)
      .then(
        () => change({ isReady: true, failure: "" }),
        (error) => change({ failure: error instanceof Error ? error.message : String(error) }),
      )
      .finally(() => clearTimeout(late));
    return () => {
      ended.abort();
      watch.disconnect();
      for (const timer of [slow, late]) clearTimeout(timer);
    };
  }, []);
  const { isReady, isSlow, isEmpty, failure } = state;
  const Frame = FRAMES[slot.place];
  return html`<${Frame} title=${slot.title} close=${close} isHidden=${isEmpty && !failure}>
    ${
      failure
        ? html`<${Note} state="overdue" title=${t.slots.failed(slot.title, slot.package)} role="alert">${failure}<//>`
        : !isReady && isSlow && isEmpty && html`<${Skeleton} lines=${2} />`
    }
    <div class="stack" hidden=${Boolean(failure)} ref=${element}></div>
    ${
      question &&
      html`<${Confirm} ...${question} action=${question.action} close=${() => setQuestion(null)}>${question.text}<//>`
    }
  <//>`;
}

/** Load the module and call it. The addresses are relative, for proxies that add a prefix. */
async function start(slot, element, given) {
  const module = await import(new URL(`..${slot.module}`, document.baseURI).href);
  await module.mount(element, given);
}

/** A card. It appears when it shows something. */
const Card = ({ title, isHidden, children }) =>
  html`<section class="card stack" aria-label=${title} hidden=${isHidden}>
    <h2>${title}</h2>
    ${children}
  </section>`;

/** What is around a slot, by its place. */
const FRAMES = {
  "collection.card": Card,
  "overview.card": Card,
  "collection.tab": ({ title, children }) =>
    html`<section class="card stack" aria-label=${title}>${children}</section>`,
  "version.action": ({ title, close, children }) => html`<${Dialog} title=${title} close=${close}>${children}<//>`,
  "health.row": ({ title, isHidden, children }) =>
    html`<li hidden=${isHidden}>
      <${Icon} name="page" />
      <div class="grow"><b>${title}</b> ${children}</div>
    </li>`,
};
