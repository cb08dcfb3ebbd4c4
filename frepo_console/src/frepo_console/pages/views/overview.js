// Overview: is everything backed up? What is not comes first.

import { html, useMemo } from "../lib/html.js";
import { mayAddServer, useAccess } from "../lib/access.js";
import { readAll, readFromBothEnds, useNow, useOverview, useReading } from "../lib/data.js";
import { count, relative, timeOfDay, today } from "../lib/format.js";
import { link } from "../lib/navigation.js";
import { Lazy, Loaded, NoPermission } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import { STATES, StateIcon, countStates, detail, reason } from "../components/state.js";
import { t } from "../texts.js";

// What is below the tiles is loaded after them.
const loadDetails = () => import("./overview/details.js");
const MANY = 2000;
const TROUBLED = STATES.filter((state) => state !== "ok");
// What the lines of those that are well show, and what the tiles show beyond that. All else is read with one of them.
const OF_LINES = "labels,states,state,created_at,due_at,expected_every,last_version";
const OF_TILES = `${OF_LINES},overdue_at,grace,guards,limits,state_since,state_reason,problems,last_run,newest_good,versions,stored_size,may`;

export default function Overview() {
  const access = useAccess();
  const now = useNow();
  const overview = useOverview();
  const troubled = useReading(access.may("collection.list") ? "troubled" : null, () =>
    readAll("/collections", { query: { state: TROUBLED, sort: "state", fields: OF_TILES }, most: MANY }),
  );
  const room = MANY - (troubled.data?.length ?? MANY);
  const well = useReading(room > 0 ? "well" : null, () =>
    readFromBothEnds("/collections", { query: { state: "ok", fields: OF_LINES }, sort: "name", most: room }),
  );
  const all = useMemo(
    () => (troubled.data && (well.data || room <= 0) ? [...troubled.data, ...(well.data ?? [])] : null),
    [troubled.data, well.data],
  );
  const states = useMemo(() => overview.data?.collections ?? (all && countStates(all)), [overview.data, all]);
  const source = access.may("collection.list") ? troubled : overview;
  const isCut = all && all.length >= MANY;
  return html`<${Verdict} states=${states} overview=${overview.data} isCut=${isCut} at=${source.at} now=${now} />
    ${states && html`<${Chips} states=${states} />`}
    ${
      access.may("collection.list")
        ? html`<${Loaded} resource=${troubled} lines=${8}
            >${(items) => html`<${Tiles} items=${items} isEmpty=${all?.length === 0} now=${now} />`}<//
          >`
        : html`<${NoPermission} action="collection.list" />`
    }
    ${
      source.data &&
      html`<${Lazy} load=${loadDetails} overview=${overview} collections=${all ?? []} well=${well} now=${now} />`
    }`;
}

function Verdict({ states, overview, isCut, at, now }) {
  const access = useAccess();
  const { total = 0, in_trouble: bad = 0 } = states ?? {};
  return html`<header class="head">
    <div>
      <h1>${states ? t.overview.verdict(states, bad, total) : t.menu.overview}</h1>
      <p class="dim">
        ${states && total > 0 && t.overview.summary(states, overview?.failing_jobs.length ?? 0)}${" "}${
          isCut && (overview ? t.overview.onlyShown(count(MANY)) : t.overview.onlyCounted(count(MANY)))
        }
      </p>
    </div>
    ${
      mayAddServer(access) &&
      total > 0 &&
      html`<a class="btn" href=${link(["collections", "new-server"])}><${Icon} name="plus" />${t.newServer}</a>`
    }
    <p class="faint sm">
      ${today(now)}, ${timeOfDay(now)}${at && html`${" · "}${t.updated(relative(at, new Date()))}`}
    </p>
  </header>`;
}

const Chips = ({ states }) =>
  html`<nav class="row wrap" aria-label=${t.overview.byState}>
    ${STATES.filter((state) => states[state] > 0).map(
      (state) =>
        html`<a class=${`chip ${state}`} href=${link(["collections"], { state })}
          ><${Icon} name=${state} isColoured /><b>${states[state]}</b> ${t.states[state]}</a
        >`,
    )}
  </nav>`;

function Tiles({ items, isEmpty, now }) {
  if (isEmpty) return html`<${NoCollections} />`;
  return html`<ul class="tiles lg">
    ${items.map((one) => html`<li key=${one.id}><${LoudTile} collection=${one} now=${now} /></li>`)}
  </ul>`;
}

function LoudTile({ collection, now }) {
  return html`<a class=${`tile ${collection.state}`} href=${link(placeOf(collection))}>
    <${StateIcon} state=${collection.state} />
    <span class="cut b" title=${collection.name}>${collection.name}</span>
    <span class="fg b">${reason(collection, now)}</span><span class="dim">${detail(collection, now)}</span>
  </a>`;
}

/** Where its trouble is explained: a job that failed has reported why. */
function placeOf({ id, state, last_run: run, may }) {
  const isOfRun = state === "failed" && run?.outcome === "failed" && may.includes("version.list");
  return isOfRun ? ["collections", id, "runs"] : ["collections", id];
}

/** A fresh service: the three steps to the first backup, or the data of a demonstration. */
function NoCollections() {
  const access = useAccess();
  const [first, ...others] = t.noCollections.steps;
  return html`<div class="card stack">
    <h2>${t.noCollections.title}</h2>
    <ol class="stack steps">
      <li>${first}</li>
      ${others.map((text) => html`<li>${text}</li>`)}
    </ol>
    ${
      access.may("collection.create") &&
      html`<div class="row wrap">
        ${
          mayAddServer(access) &&
          html`<a class="btn pri" href=${link(["collections", "new-server"])}><${Icon} name="plus" />${t.newServer}</a>`
        }
        <a class="btn" href=${link(["collections", "new"])}>${t.noCollections.create}</a>
      </div>`
    }
    <p class="dim">${t.noCollections.demo} <code>make demo</code></p>
  </div>`;
}
