// The report about restores: what was proven, which nights are missing, who has deleted what, and what locks are worth.

import { html, useState } from "../../lib/html.js";
import { answerOf, apiUrl, headersWithToken } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { date, dateTime, length, relative, size } from "../../lib/format.js";
import { changeQuery, link } from "../../lib/navigation.js";
import { saveBlob } from "../../lib/save.js";
import { eventTitle } from "../../components/event.js";
import { Empty, ErrorNote, Loaded } from "../../components/feedback.js";
import { Table } from "../../components/table.js";
import { t } from "../../texts/evidence.js";

const DAYS = 30;
const RARELY_SECONDS = 600;
const DAY_MS = 86_400_000;
const dayOf = (time) => new Date(time).toISOString().slice(0, 10);

export default function Evidence({ query }) {
  const since = query.get("since") ?? dayOf(Date.now() - DAYS * DAY_MS);
  const until = query.get("until") ?? "";
  const report = useResource("/reports/restores", { query: { since, until }, every: RARELY_SECONDS });
  return html`<div class="stack">
    <${Period} key=${`${since} ${until}`} since=${since} until=${until} />
    <${Loaded} resource=${report} lines=${6}>${(data) => html`<${Shown} report=${data} />`}<//>
  </div>`;
}

function Period({ since, until }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const submit = (event) => {
    event.preventDefault();
    const values = new FormData(event.target);
    changeQuery({ since: values.get("since"), until: values.get("until") });
  };
  const save = async (form) => {
    setError(null);
    try {
      const path = form === "json" ? "/reports/restores" : `/reports/restores.${form}`;
      const query = { since, until, proof: form === "json" ? "true" : "" };
      const answer = await answerOf(apiUrl(path, query), { headers: headersWithToken() });
      saveBlob(await answer.blob(), `restores-${since}.${form}`);
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<form class="row wrap" onSubmit=${submit}>
      <label class="row">${t.since} <input class="in narrow" type="date" name="since" value=${since} required /></label>
      <label class="row">${t.until} <input class="in narrow" type="date" name="until" value=${until} /></label>
      <button class="btn">${t.show}</button>
      ${Object.entries(t.save).map(
        ([form, title]) => html`<button type="button" class="btn" onClick=${() => save(form)}>${title}</button>`,
      )}
    </form>
    ${error && html`<${ErrorNote} error=${error} />`}`;
}

function Shown({ report }) {
  const names = Object.fromEntries(report.collections.map((one) => [one.id, one.name]));
  return html`${report.known_since > report.since && html`<p class="dim">${t.known(dateTime(report.known_since))}</p>`}
    <section class="card flush">
      <div class="sec"><h2>${t.fleet}</h2></div>
      <p class="list-end">
        ${report.fleet.seconds === null ? t.fleetUnknown : t.fleetTakes(length(report.fleet.seconds))}
      </p>
      <ul class="list">
        ${report.fleet.storages.map(
          (one) =>
            html`<li key=${one.storage}>
              <div class="grow">
                <b>${one.storage}</b>
                <div class="sm dim">${t.ofStorage(one, size(one.size), one.rate && size(one.rate))}</div>
              </div>
              ${one.seconds === null ? t.unknown : length(one.seconds)}
            </li>`,
        )}
      </ul>
    </section>
    <section class="card flush">
      <div class="sec"><h2>${t.collections}</h2></div>
      ${
        report.collections.length
          ? html`<${Table} caption=${t.collections} columns=${COLUMNS} rows=${report.collections} keyOf=${keyOf} />`
          : html`<${Empty} icon="search" title=${t.none} text=${t.noneText} />`
      }
    </section>
    <section class="card flush">
      <div class="sec"><h2>${t.locks}</h2></div>
      ${report.locks.length === 0 && html`<p class="dim list-end">${t.noLocks}</p>`}
      <ul class="list">
        ${report.locks.map((one) => html`<li key=${one.storage}><b>${one.storage}</b> ${lockOf(one)}</li>`)}
      </ul>
    </section>
    <section class="card flush">
      <div class="sec"><h2>${t.acts}</h2></div>
      ${report.acts.length === 0 && html`<p class="dim list-end">${t.noActs}</p>`}
      <ul class="list">
        ${report.acts.map((act) => html`<${Act} key=${act.position} act=${act} names=${names} />`)}
      </ul>
    </section>`;
}

const keyOf = (one) => one.id;

const COLUMNS = [
  {
    title: t.columns.name,
    className: "main",
    cell: (one) => html`<a href=${link(["collections", one.id])}>${one.name}</a>`,
  },
  { title: t.columns.proven, label: t.columns.proven, cell: (one) => html`<${Proven} one=${one} />` },
  {
    title: t.columns.nights,
    label: t.columns.nights,
    cell: ({ nights, unexpected }) => (nights ? t.nights(nights.good, nights.expected) : t.unexpected(unexpected)),
  },
  {
    title: t.columns.gaps,
    label: t.columns.gaps,
    cell: ({ nights }) => {
      const gap = nights?.gaps.at(-1);
      return gap && t.gap(date(gap.since), date(gap.until), gap.missed);
    },
  },
];

function Proven({ one }) {
  const { proven } = one;
  if (!proven) return html`<span class="late"><span class="fg">${t.never}</span></span>`;
  const detail = proven.seconds === null ? t.deleted : t.took(length(proven.seconds), proven.rate && size(proven.rate));
  return html`<span title=${dateTime(proven.at)}>${relative(proven.at)}</span>
    <div class="sm dim">${detail}</div>`;
}

function Act({ act, names }) {
  const { collection_id: id } = act;
  return html`<li>
    <div class="grow">
      <b>${eventTitle({ ...act, data: {} })}</b>${" "}
      ${id && html`<a href=${link(["collections", id])}>${names[id] ?? id}</a>`}
      <div class="sm dim">
        ${[dateTime(act.at), act.actor_name ?? act.actor, act.reason].filter(Boolean).join(" · ")}
      </div>
    </div>
  </li>`;
}

function lockOf(lock) {
  if (lock.broken.length) return t.lockBroken(lock.broken.join(", "));
  if (!lock.retains) return t.lockWeak;
  return lock.proven_at ? t.lockProven(relative(lock.proven_at)) : t.lockNever;
}
