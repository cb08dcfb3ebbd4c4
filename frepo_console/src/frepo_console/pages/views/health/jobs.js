// The jobs: what each found last, when it runs next, its history, and a run on request.

import { html, useRef, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useList } from "../../lib/data.js";
import { dateTime, duration, exactTime, relative, size } from "../../lib/format.js";
import { changeQuery } from "../../lib/navigation.js";
import { Dialog } from "../../components/dialog.js";
import { Empty, ErrorNote, Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { ListEnd } from "../../components/table.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/health.js";

const STATES = { good: "ok", failed: "overdue", lost: "overdue", interrupted: "late" };
const RUNS = 20;

/** The job named `open` shows its history. */
export function Jobs({ resource, open }) {
  return html`<section class="card flush">
    <div class="sec"><h2>${t.jobs}</h2></div>
    <${Loaded} resource=${resource} lines=${8}
      >${({ items }) => html`<${Folded} items=${items} reload=${resource.reload} />`}<//
    >
    ${open && html`<${History} key=${open} name=${open} />`}
  </section>`;
}

const Rows = ({ items, reload }) =>
  html`<ul class="list">
    ${items.map((one) => html`<${Row} key=${one.name} job=${one} reload=${reload} />`)}
  </ul>`;

/**
 * What has not ended well is shown before somebody asks for the rest. It stays there when it runs again: a button that
 * moves while somebody uses it loses the focus.
 */
function Folded({ items, reload }) {
  const names = useRef(new Set());
  for (const { name, last_run: run } of items) if (run?.outcome && run.outcome !== "good") names.current.add(name);
  const [shown, others] = [true, false].map((isShown) =>
    items.filter((one) => names.current.has(one.name) === isShown),
  );
  return html`<${Rows} items=${shown} reload=${reload} /> ${
      others.length > 0 &&
      html`<details>
        <summary class="list-end">${t.jobsFine(others.length, shown.length)}</summary>
        <${Rows} items=${others} reload=${reload} />
      </details>`
    }`;
}

/** "every 15 minutes"; cron as it is. */
function scheduleText(schedule) {
  const [, number, unit] = /^every (\d+)([smhdw])$/.exec(schedule) ?? [];
  if (!unit) return html`<code>${schedule}</code>`;
  return t.every(duration(`${"dw".includes(unit) ? "P" : "PT"}${number}${unit.toUpperCase()}`));
}

function Row({ job, reload }) {
  const access = useAccess();
  const [error, setError] = useState("");
  const run = job.last_run;
  const state = run ? (STATES[run.outcome] ?? "late") : "new";
  const isRunning = run !== null && run.ended_at === null;
  const request = async () => {
    setError("");
    await send("POST", `${path("jobs", job.name)}/runs`).then(reload, (problem) => setError(problem.message));
  };
  const button = isRunning ? t.running : job.request ? t.requested : t.runNow;
  return html`<li class=${state}>
    <${Icon} name=${state} label=${run?.outcome ? t.outcomes[run.outcome] : undefined} isColoured />
    <div class="grow">
      <b>${job.name}</b>${" "}<span class="dim sm">${job.summary}</span>
      <div class="sm">
        ${run ? html`<${Result} run=${run} />` : html`<span class="dim">${t.neverRun}</span>`}<span class="dim"
          >${" · "}${
            job.next_at
              ? html`<time datetime=${job.next_at} title=${exactTime(job.next_at)}
                    >${t.next(relative(job.next_at))}</time
                  >${" · "}${scheduleText(job.schedule)}`
              : t.off
          }</span
        >
      </div>
      ${error && html`<p class="err" role="alert">${error}</p>`}
    </div>
    <div class="row">
      <button
        class="btn bare s"
        aria-label=${t.historyOf(job.name)}
        title=${t.history}
        onClick=${() => changeQuery({ job: job.name })}
      >
        <${Icon} name="clock" />
      </button>
      ${
        access.may("jobs.run") &&
        html`<button
          class="btn s"
          disabled=${isRunning || job.request !== null}
          aria-label=${`${button}: ${job.name}`}
          onClick=${request}
        >
          <${Icon} name="play" />${button}
        </button>`
      }
    </div>
  </li>`;
}

/** What a run found, or why it failed; while it runs, how far it is. */
function Result({ run }) {
  if (!run.ended_at) return html`<span class="dim">${run.progress || t.running}</span>`;
  const when = html`<time datetime=${run.started_at} title=${exactTime(run.started_at)}
    >${relative(run.started_at)}</time
  >`;
  if (run.error) return html`<span class="fg">${t.outcomes[run.outcome] ?? run.outcome} ${when}: ${run.error}</span>`;
  return html`<span class="dim">${when}${summaryText(run.summary) && ` · ${summaryText(run.summary)}`}</span>`;
}

/** The short values of a summary: "checked 31, size 4.20 MB, damaged 0". */
function summaryText(summary) {
  const short = Object.entries(summary ?? {}).filter(([, value]) =>
    ["number", "string", "boolean"].includes(typeof value),
  );
  return short
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${name === "size" ? size(value) : value}`)
    .join(", ");
}

function History({ name }) {
  const list = useList(`${path("jobs", name)}/runs`, { limit: RUNS, every: 5 });
  return html`<${Dialog} title=${t.historyOf(name)} close=${() => changeQuery({ job: "" })} isWide>
    ${list.error && html`<${ErrorNote} error=${list.error} retry=${list.retry} />`}
    ${list.items?.length === 0 && html`<${Empty} icon="clock" title=${t.noRuns} />`}
    ${
      list.items?.length > 0 &&
      html`<ul class="list">
          ${list.items.map((run) => html`<${Run} key=${run.id} run=${run} />`)}
        </ul>
        <${ListEnd} list=${list} />`
    }
  <//>`;
}

function Run({ run }) {
  const state = STATES[run.outcome] ?? "late";
  const seconds = run.ended_at && (new Date(run.ended_at).getTime() - new Date(run.started_at).getTime()) / 1000;
  const text = run.error ?? (run.ended_at ? summaryText(run.summary) : run.progress);
  return html`<li class=${state}>
    <${Icon} name=${state} label=${common.states[state]} isColoured />
    <div class="grow">
      <b>${run.outcome ? (t.outcomes[run.outcome] ?? run.outcome) : t.running}</b>
      <div class=${run.error ? "sm fg" : "sm dim"}>${text}</div>
      <div class="sm dim">
        ${[t.by(run.cause), seconds !== null && t.took(t.seconds(Math.round(seconds))), run.process]
          .filter(Boolean)
          .join(" · ")}
      </div>
    </div>
    <time class="end" datetime=${run.started_at} title=${exactTime(run.started_at)}>${dateTime(run.started_at)}</time>
  </li>`;
}
