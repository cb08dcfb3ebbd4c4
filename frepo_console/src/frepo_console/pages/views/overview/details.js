// What is below the tiles of the overview: arrivals, storage, the last events, and the jobs with a button that runs one
// now.

import { html, useContext, useMemo, useState } from "../../lib/html.js";
import { About, useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useList, useResource } from "../../lib/data.js";
import { dateTime, exactTime } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { EventLine } from "../../components/event.js";
import { ErrorNote, Lazy, Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts.js";
import { Arrivals } from "./arrivals.js";
import { Figures, Storage } from "./storage.js";

const SHOWN = 10;
const loadSlots = () => import("../../components/slots.js");
const loadCopies = () => import("./copies.js");

export default function Details({ overview, collections, now }) {
  const access = useAccess();
  const { slots } = useContext(About);
  return html`${collections.length > 0 && html`<${Arrivals} collections=${collections} now=${now} />`}
    ${overview.error && html`<${ErrorNote} error=${overview.error} at=${overview.at} retry=${overview.retry} />`}
    ${
      overview.data &&
      html`<div class="cols">
          <${Storage} overview=${overview.data} now=${now} /><${Figures} overview=${overview.data} />
        </div>
        ${overview.data.copies.length > 0 && html`<${Lazy} load=${loadCopies} copies=${overview.data.copies} />`}`
    }
    <div class="cols">
      ${access.may("events.view") && html`<${LastEvents} collections=${collections} now=${now} />`}
      ${access.may("jobs.view") && html`<${Jobs} now=${now} />`}
    </div>
    ${slots.some(({ place }) => place === "overview.card") && html`<${Lazy} load=${loadSlots} place="overview.card" />`}`;
}

function LastEvents({ collections, now }) {
  const events = useList("/events", { limit: SHOWN });
  const names = useMemo(() => Object.fromEntries(collections.map((one) => [one.id, one.name])), [collections]);
  return html`<section class="card flush w6">
    <div class="sec">
      <h2>${t.lists.events}</h2>
      <a class="end sm" href=${link(["events"])}>${t.lists.allEvents}</a>
    </div>
    <${Loaded} resource=${{ ...events, data: events.items }}>
      ${(items) =>
        html`<ul class="list">
          ${items
            .slice(0, SHOWN)
            .map(
              (event) =>
                html`<${EventLine}
                  key=${event.position}
                  event=${event}
                  name=${names[event.collection_id]}
                  now=${now}
                />`,
            )}
        </ul>`}
    <//>
  </section>`;
}

function Jobs({ now }) {
  const jobs = useResource("/jobs");
  return html`<section class="card flush w6">
    <div class="sec">
      <h2>${t.lists.jobs}</h2>
      <a class="end sm" href=${link(["health"])}>${t.lists.history}</a>
    </div>
    <${Loaded} resource=${jobs}>
      ${({ items }) =>
        html`<ul class="list">
          ${[...items]
            .sort(worstFirst)
            .map((job) => html`<${JobLine} key=${job.name} job=${job} reload=${jobs.reload} now=${now} />`)}
        </ul>`}
    <//>
  </section>`;
}

const isFailed = (job) => Boolean(job.last_run?.ended_at) && job.last_run.outcome !== "good";
const worstFirst = (one, other) =>
  Number(isFailed(other)) - Number(isFailed(one)) || one.name.localeCompare(other.name);

function JobLine({ job, reload, now }) {
  const access = useAccess();
  const [error, setError] = useState("");
  const run = job.last_run;
  const isRunning = Boolean(job.request || (run && !run.ended_at));
  const state = isFailed(job) ? "overdue" : run?.ended_at ? "ok" : "new";
  const start = () => send("POST", `/jobs${path(job.name)}/runs`).then(reload, (problem) => setError(problem.message));
  return html`<li>
    <span class=${state}><${Icon} name=${state} label=${t.lists.outcomes[state]} isColoured /></span>
    <div class="grow">
      <b>${job.name}</b>
      <div class=${isFailed(job) ? "sm overdue fg" : "sm dim"}>
        ${isFailed(job) ? run.error || run.outcome : isRunning ? run?.progress || t.lists.running : job.summary}
      </div>
      ${error && html`<p class="err" role="alert"><${Icon} name="overdue" />${error}</p>`}
    </div>
    <span class="sm dim end" title=${job.next_at ? exactTime(job.next_at) : ""}
      >${job.next_at ? dateTime(job.next_at, now) : t.lists.off}</span
    >
    ${
      access.may("jobs.run") &&
      html`<button class="btn s bare" disabled=${isRunning} onClick=${start}>
        <${Icon} name="play" />${t.lists.runNow}<span class="vh"> ${job.name}</span>
      </button>`
    }
  </li>`;
}
