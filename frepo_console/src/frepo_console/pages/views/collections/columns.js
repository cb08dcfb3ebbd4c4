// The columns of the list of collections.

import { html } from "../../lib/html.js";
import { count, exactTime, relative, size } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { Sparkline, StateBadges, Tag, reason } from "../../components/state.js";
import { t } from "../../texts/collections.js";

/** `sizes` are lists of bytes by the id of the collection. */
export function columnsFor(sizes, now) {
  return [
    { title: t.table.state, sort: "state", cell: (one) => html`<${StateBadges} collection=${one} />` },
    {
      title: t.table.name,
      sort: "name",
      className: "main",
      cell: (one) => html`<${NameCell} collection=${one} now=${now} />`,
    },
    {
      title: t.table.last,
      sort: "last_version_at",
      firstSort: "-last_version_at",
      className: "n",
      label: t.table.lastShort,
      cell: (one) => lastCell(one, now),
    },
    {
      title: t.table.size,
      className: "n",
      label: t.table.sizeShort,
      cell: (one) => (one.last_version ? size(one.last_version.size) : html`<span class="faint">${t.none}</span>`),
    },
    {
      title: t.table.stored,
      sort: "stored_size",
      firstSort: "-stored_size",
      className: "opt",
      cell: (one) =>
        html`<span class="row"
          >${sizes[one.id] && html`<${Sparkline} values=${sizes[one.id]} label=${t.overview.sizes(one.name)} />`}<span
            class="dim end"
            >${size(one.stored_size)}</span
          ></span
        >`,
    },
    { title: t.table.versions, className: "n opt", cell: (one) => count(one.versions) },
    { title: t.table.next, className: "n", label: t.table.nextShort, cell: (one) => dueCell(one, now) },
  ];
}

const NameCell = ({ collection, now }) =>
  html`<div>
    <a class="name" href=${link(["collections", collection.id])}>${collection.name}</a>${" "}
    ${collection.labels.map((label) => html`<${Tag}>${label}<//>${" "}`)}
    ${collection.hold && html`<${Tag}>${t.table.held}<//>`}
    ${
      collection.state !== "ok" &&
      html`<div class=${`sm ${collection.state}`}><span class="fg">${reason(collection, now)}</span></div>`
    }
  </div>`;

/** When the newest version arrived. "Never" is said of one that never sent. */
function lastCell({ last_version: last, quarantined_versions: quarantined, arrived_at: arrived }, now) {
  if (last) return html`<time datetime=${last.at} title=${exactTime(last.at)}>${relative(last.at, now)}</time>`;
  return html`<span class="faint">${quarantined || arrived ? t.table.noneGood : t.never}</span>`;
}

function dueCell({ due_at: due, states }, now) {
  if (!due) return html`<span class="faint">${t.table.notSet}</span>`;
  const isOverdue = states.includes("overdue");
  return html`<time
    class=${isOverdue || new Date(due) < now ? `${isOverdue ? "overdue" : "late"} fg b` : ""}
    datetime=${due}
    title=${exactTime(due)}
    >${relative(due, now)}</time
  >`;
}
