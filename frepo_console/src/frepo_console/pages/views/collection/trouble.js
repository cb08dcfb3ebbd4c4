// What is wrong with a collection, why, and what to do; and what can be done with its newest version in quarantine.

import { html } from "../../lib/html.js";
import { path } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { dateTime } from "../../lib/format.js";
import { Lazy, Note } from "../../components/feedback.js";
import { expectation, minRetention, newestGood, reason } from "../../components/state.js";
import { inWords } from "../../texts.js";
import { t } from "../../texts/collection.js";

const NEWEST = 10;
const TIME = /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g;
const loadQuarantine = () => import("./versions/quarantine.js");

/** What can be done with the newest version in quarantine. */
function Quarantined({ collection, changed }) {
  const isAllowed = collection.may.includes("version.list");
  const newest = useResource(isAllowed ? `/collections${path(collection.id)}/versions` : null, {
    query: { limit: NEWEST },
  });
  const version = newest.data?.items.find((one) => one.quarantined);
  return version && html`<${Lazy} load=${loadQuarantine} ...${{ collection, version, changed }} />`;
}

const MORE_OF_STATES = { overdue: expectation, late: expectation, failed: newestGood };

/** What is wrong, why, and what to do. */
export function Trouble({ collection, changed, now }) {
  const { state } = collection;
  if (state === "ok" || state === "new") return null;
  const title = reason(collection, now);
  const why = collection.state_reason;
  const actions =
    collection.quarantined_versions > 0 && html`<${Quarantined} collection=${collection} changed=${changed} />`;
  return html`<${Note} state=${state} title=${title} actions=${actions}
    >${why && why !== title && html`<p>${sentence(why)}</p>`}
    <p>${[advice(collection), MORE_OF_STATES[state]?.(collection, now)].filter(Boolean).join(" ")}</p><//
  >`;
}

/** The reasons of the service, which names all states that apply, as a sentence. */
const sentence = (text) =>
  inWords(`${text[0].toUpperCase()}${text.slice(1).replace(/\.?$/, ".")}`).replace(TIME, (_, day, time) =>
    dateTime(`${day}T${time}Z`),
  );

/** What somebody can do about its state. */
function advice(collection) {
  const retention = collection.state === "full" && minRetention(collection);
  return retention ? t.collection.fullOfYoung(retention) : t.collection.advice[collection.state];
}
