// What is wrong with a collection: a banner for each cause, with the version and the reason, and what solves it.

import { html } from "../../lib/html.js";
import { path } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { dateTime } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { Lazy, Note } from "../../components/feedback.js";
import { CAUSES, detail, expectation, minRetention, newestGood, reason } from "../../components/state.js";
import { inWords } from "../../texts.js";
import { t } from "../../texts/trouble.js";

const NEWEST = 10;
const loadQuarantine = () => import("./versions/quarantine.js");

/** What is wrong, the worst first. That a backup is missing is no banner of its own if another cause explains it. */
export function Trouble(given) {
  const { states } = given.collection;
  const isExplained = CAUSES.some((state) => states.includes(state));
  const shown = Object.keys(BANNERS).filter((state) => states.includes(state) && !(isExplained && MISSING.has(state)));
  return shown.map(
    (state, index) =>
      html`<${BANNERS[state]} key=${state} ...${given} state=${state} style=${index === 0 ? "btn pri" : "btn"} />`,
  );
}

const MISSING = new Set(["overdue", "late"]);

/** @type {Record<string, Function>} */
const BANNERS = {
  damaged: Damaged,
  failed: Failed,
  full: Full,
  problem: Problem,
  suspicious: Suspicious,
  overdue: Missing,
  late: Missing,
};

/** Whether the page has a banner, whose first button is the filled one. */
export const isTroubled = ({ states }) => states.some((state) => state in BANNERS);

/** The newest versions that a condition holds for. */
function useVersions(collection, query) {
  const isAllowed = collection.may.includes("version.list");
  const found = useResource(isAllowed ? `/collections${path(collection.id)}/versions` : null, {
    query: { limit: NEWEST, ...query },
  });
  return found.data?.items ?? [];
}

function Damaged({ collection, state, style, startUpload }) {
  const [newest, ...others] = useVersions(collection, { damaged: true });
  const numbers = [newest, ...others].map((one) => one?.number);
  const action =
    newest &&
    collection.may.includes("version.upload") &&
    html`<button class=${style} onClick=${startUpload}>${t.banner.repair(newest.number)}</button>`;
  return html`<${Note} state=${state} title=${t.banner.damaged(newest ? numbers : [])} actions=${action}
    >${t.collection.advice.damaged}<//
  >`;
}

/** Whether a collection failed because of what its job reported, and not of a broken version. */
const isOfRun = (run, broken) => run?.outcome === "failed" && !(broken && broken.created_at > run.at);

/** The numbers of the versions that the banners name with what can be done about them; `versions` has the newest first. */
export function numbersInBanners({ states, last_run: run }, versions) {
  const newest = (verdict) => versions.find((one) => one.verdict === verdict);
  const broken = newest("broken");
  const isNamed = states.includes("failed") && !isOfRun(run, broken);
  return [isNamed && broken, states.includes("suspicious") && newest("suspicious")].map((one) => one && one.number);
}

/** A job that reported that it failed, or a version that is broken. */
function Failed(given) {
  const { collection, state, style, now } = given;
  const { last_run: run } = collection;
  const broken = useVersions(collection, { verdict: "broken" })[0];
  const isRun = isOfRun(run, broken);
  const why = isRun ? run.reason : broken?.verdict_reason;
  const text = html`<${Why} text=${why} />
    <p>${[t.collection.advice.failed, newestGood(collection, now)].join(" ")}</p>
    <${Therefore} ...${given} />`;
  if (isRun || !broken) {
    const runs = link(["collections", collection.id, "runs"], { outcome: "failed" });
    const action = isRun && html`<a class=${style} href=${runs}>${t.banner.seeRun}</a>`;
    const title = isRun ? t.banner.jobFailed : reason({ ...collection, state }, now);
    return html`<${Note} state=${state} title=${title} actions=${action}>${text}<//>`;
  }
  return html`<${Note}
    state=${state}
    title=${t.banner.broken(broken.number)}
    actions=${html`<${Lazy} load=${loadQuarantine} ...${given} version=${broken} />`}
    >${text}<//
  >`;
}

function Full({ collection, state, style, now, ...given }) {
  const young = minRetention(collection);
  const action =
    collection.may.includes("collection.edit") &&
    html`<a class=${style} href=${link(["collections", collection.id, "settings"])}>${t.banner.changeLimits}</a>`;
  return html`<${Note} state=${state} title=${t.banner.full(detail({ ...collection, state }, now))} actions=${action}
    ><p>${young ? t.collection.fullOfYoung(young) : t.collection.advice.full}</p>
    <${Therefore} ...${{ collection, now, ...given }}
  /><//>`;
}

/** What plug-ins report: each with its name and since when. */
function Problem({ collection: { problems }, state, now }) {
  return problems.map(
    ({ plugin, name, message, since }) =>
      html`<${Note} key=${`${plugin} ${name}`} state=${state} title=${inWords(message)}
        ><p>${t.banner.reported(plugin, dateTime(since, now))}</p><//
      >`,
  );
}

function Suspicious(given) {
  const { collection, state, now } = given;
  const version = useVersions(collection, { verdict: "suspicious" })[0];
  const title = version ? t.banner.suspicious(version.number) : reason({ ...collection, state }, now);
  return html`<${Note}
    state=${state}
    title=${title}
    actions=${version && html`<${Lazy} load=${loadQuarantine} ...${given} version=${version} />`}
    ><${Why} text=${version?.verdict_reason} />
    <p>${t.collection.advice.suspicious}${version?.quarantined && ` ${t.collection.advice.quarantined}`}</p>
    <${Therefore} ...${given}
  /><//>`;
}

/** The reason as a sentence. */
const Why = ({ text }) => text && html`<p><b>${inWords(text.replace(/\.?$/, "."))}</b></p>`;

/** That no good backup has arrived in time, next to its cause. */
function Therefore({ collection, now }) {
  const missing = [...MISSING].find((state) => collection.states.includes(state));
  return (
    missing && html`<p>${t.banner.therefore(reason({ ...collection, state: missing, states: [missing] }, now))}</p>`
  );
}

function Missing({ collection, state, style, now }) {
  const [tab, text] = collection.last_run ? ["runs", t.banner.seeRuns] : ["send", t.banner.seeSending];
  const action =
    state === "overdue" && html`<a class=${style} href=${link(["collections", collection.id, tab])}>${text}</a>`;
  return html`<${Note} state=${state} title=${reason({ ...collection, state }, now)} actions=${action}
    ><p>${[t.collection.advice[state], expectation(collection)].filter(Boolean).join(" ")}</p><//
  >`;
}
