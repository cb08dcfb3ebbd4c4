// What is below the tiles of the overview: arrivals, storage, what is well by label, and the last events.

import { html, useContext, useMemo } from "../../lib/html.js";
import { About, useAccess } from "../../lib/access.js";
import { useList } from "../../lib/data.js";
import { link } from "../../lib/navigation.js";
import { EventLine, uploadsAsOne } from "../../components/event.js";
import { ErrorNote, Lazy, Loaded } from "../../components/feedback.js";
import { t } from "../../texts.js";
import { Arrivals, Labels } from "./arrivals.js";
import { Figures, Storage } from "./storage.js";

const SHOWN = 10;
const READ = 4 * SHOWN; // those of an upload are one line
const loadSlots = () => import("../../components/slots.js");
const loadCopies = () => import("./copies.js");

export default function Details({ overview, collections, well, now }) {
  const access = useAccess();
  const { slots } = useContext(About);
  return html`${well.error && html`<${ErrorNote} error=${well.error} at=${well.at} retry=${well.retry} />`}
  ${collections.length > 0 && html`<${Arrivals} collections=${collections} now=${now} />`}
  ${overview.error && html`<${ErrorNote} error=${overview.error} at=${overview.at} retry=${overview.retry} />`}
  ${
    overview.data &&
    html`<div class="cols">
        <${Storage} overview=${overview.data} now=${now} /><${Figures} overview=${overview.data} />
      </div>
      ${overview.data.copies.length > 0 && html`<${Lazy} load=${loadCopies} copies=${overview.data.copies} />`}`
  }
  ${collections.some((one) => one.state === "ok") && html`<${Labels} collections=${collections} now=${now} />`}
  ${access.may("events.view") && html`<${LastEvents} collections=${collections} now=${now} />`}
  ${slots.some(({ place }) => place === "overview.card") && html`<${Lazy} load=${loadSlots} place="overview.card" />`}`;
}

function LastEvents({ collections, now }) {
  const events = useList("/events", { limit: READ });
  const names = useMemo(() => Object.fromEntries(collections.map((one) => [one.id, one.name])), [collections]);
  return html`<section class="card flush">
    <div class="sec">
      <h2>${t.lists.events}</h2>
      <a class="end sm" href=${link(["events"])}>${t.lists.allEvents}</a>
    </div>
    <${Loaded} resource=${{ ...events, data: events.items }}>
      ${(items) =>
        html`<ul class="list">
          ${uploadsAsOne(items)
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
