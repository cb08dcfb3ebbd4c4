// The runs of the backup job as its clients report them, newest first: what the service cannot see.

import { html } from "../../lib/html.js";
import { path } from "../../lib/api.js";
import { useList, useReload } from "../../lib/data.js";
import { dateTime, elapsed, exactTime } from "../../lib/format.js";
import { changeQuery } from "../../lib/navigation.js";
import { Empty, Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { ListEnd } from "../../components/table.js";
import { t } from "../../texts/collection.js";

const STATES = { ok: "ok", failed: "failed", skipped: "new" };

export function Runs({ collection, changes, query, now }) {
  const outcome = query.get("outcome") ?? "";
  const list = useList(`/collections${path(collection.id)}/runs`, { query: outcome ? { outcome } : {} });
  useReload(list, changes);
  return html`<div class="row wrap">
      ${["", "failed", "skipped"].map(
        (one) =>
          html`<button
            class=${`chip ${STATES[one] ?? ""}`}
            aria-pressed=${String(one === outcome)}
            onClick=${() => changeQuery({ outcome: one })}
          >
            ${t.runs.filters[one]}
          </button>`,
      )}
    </div>
    <${Loaded} resource=${{ ...list, data: list.items }}>
      ${(items) =>
        items.length
          ? html`<section class="card flush" aria-label=${t.collection.tabs.runs}>
              <ul class="list">
                ${items.map((run) => html`<${Run} key=${run.id} run=${run} now=${now} />`)}
              </ul>
              <${ListEnd} list=${list} />
            </section>`
          : html`<div class="card">
              <${Empty} icon="clock" title=${outcome ? t.runs.noneOfThese : t.runs.none} text=${t.runs.noneText} />
            </div>`}
    <//>`;
}

function Run({ run, now }) {
  const state = STATES[run.outcome] ?? "new";
  const isBad = run.outcome === "failed";
  return html`<li class=${state}>
    <${Icon} name=${state} label=${t.runs.outcomes[run.outcome]} isColoured />
    <div class="grow">
      <b class=${isBad ? "fg" : ""}>${t.runs.outcomes[run.outcome]}</b> ${run.reason}
      <div class="sm dim">${factsOf(run).join(" · ")}</div>
      ${run.error_output && html`<${Output} text=${run.error_output} />`}
    </div>
    <time datetime=${run.at} title=${exactTime(run.at)}>${dateTime(run.at, now)}</time>
  </li>`;
}

/** "20 min", "exit statuses 1, 0", "version 3", the host, the client, and who has reported it. */
function factsOf({ seconds, exit_statuses: statuses, version, host, client, actor }) {
  const facts = [
    seconds !== null && t.runs.took(elapsed(0, new Date(seconds * 1000))),
    statuses.length > 0 && t.runs.statuses(statuses.join(", ")),
    version !== null && t.versions_.number(version),
    host,
    client,
    t.by(actor),
  ];
  return facts.filter(Boolean);
}

const Output = ({ text }) =>
  html`<details>
    <summary class="sm">${t.runs.output}</summary>
    <pre tabindex="0" role="region" aria-label=${t.runs.output}>${text}</pre>
  </details>`;
