// What is below the tiles of the overview: arrivals, storage, the last events and the jobs.

import { html } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { ErrorNote } from "../../components/feedback.js";
import { Arrivals } from "./arrivals.js";
import { Jobs, LastEvents } from "./lists.js";
import { Figures, Storage } from "./storage.js";

export default function Details({ overview, collections, now }) {
  const access = useAccess();
  return html`${collections.length > 0 && html`<${Arrivals} collections=${collections} now=${now} />`}
    ${overview.error && html`<${ErrorNote} error=${overview.error} at=${overview.at} retry=${overview.reload} />`}
    ${overview.data &&
    html`<div class="cols"><${Storage} overview=${overview.data} now=${now} /><${Figures} overview=${overview.data} /></div>`}
    <div class="cols">
      ${access.may("events.view") && html`<${LastEvents} collections=${collections} now=${now} />`}
      ${access.may("jobs.view") && html`<${Jobs} now=${now} />`}
    </div>`;
}
