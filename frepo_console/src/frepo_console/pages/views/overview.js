// Overview: is everything backed up? What is not comes first.

import { Part, html, useMemo, useState, useSteps } from "../lib/html.js";
import { useAccess } from "../lib/access.js";
import { readAll, useNow, useReading, useResource } from "../lib/data.js";
import { count, elapsed, relative, size, timeOfDay, today } from "../lib/format.js";
import { link } from "../lib/navigation.js";
import { ChartError, Empty, Lazy, Loaded, NoPermission } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import { BAD_STATES, STATES, Sparkline, StateIcon, detail, reason, useSizes } from "../components/state.js";
import { t } from "../texts.js";

// What is below the tiles is loaded after them.
const loadDetails = () => import("./overview/details.js");
const MANY = 2000;
const QUIET_SHOWN = 240;
const QUIET_STEP = 20;

export default function Overview() {
  const access = useAccess();
  const now = useNow();
  const overview = useResource(access.may("metrics.view") ? "/overview" : null);
  const collections = useReading(access.may("collection.list") ? "collections" : null, () =>
    readAll("/collections", { query: { sort: "state" }, most: MANY }),
  );
  const states = useMemo(() => countStates(overview.data, collections.data), [overview.data, collections.data]);
  const source = access.may("collection.list") ? collections : overview;
  const isCut = collections.data?.length >= MANY;
  return html`<${Verdict} states=${states} overview=${overview.data} isCut=${isCut} at=${source.at} now=${now} /> ${
      access.may("collection.list")
        ? html`<${Loaded} resource=${collections} lines=${8}
            >${(items) => html`<${States} items=${items} states=${states} now=${now} />`}<//
          >`
        : html`<${NoPermission} action="collection.list" />`
    }
    ${
      source.data &&
      html`<${Lazy} load=${loadDetails} overview=${overview} collections=${collections.data ?? []} now=${now} />`
    }`;
}

function countStates(overview, collections) {
  if (overview) return overview.collections;
  if (!collections) return null;
  return Object.fromEntries(STATES.map((state) => [state, collections.filter((one) => one.state === state).length]));
}

function Verdict({ states, overview, isCut, at, now }) {
  const total = states ? STATES.reduce((sum, state) => sum + states[state], 0) : 0;
  const bad = states ? BAD_STATES.reduce((sum, state) => sum + states[state], 0) : 0;
  return html`<header class="head">
    <div>
      <h1>${states ? t.overview.verdict(states, bad, total) : t.menu.overview}</h1>
      <p class="dim">
        ${states && t.overview.summary(states, overview?.failing_jobs.length ?? 0)}${" "}${
          isCut && (overview ? t.overview.onlyShown(count(MANY)) : t.overview.onlyCounted(count(MANY)))
        }
      </p>
    </div>
    <p class="faint sm">
      ${today(now)}, ${timeOfDay(now)}${at && html`${" · "}${t.updated(relative(at, new Date()))}`}
    </p>
  </header>`;
}

function States({ items, states, now }) {
  const [isWhole, setWhole] = useState(false);
  const quiet = items.filter((one) => one.state === "ok");
  const sizes = useSizes(quiet);
  const shown = quiet.slice(0, useSteps(isWhole ? quiet.length : Math.min(quiet.length, QUIET_SHOWN), QUIET_STEP));
  if (items.length === 0) return html`<${NoCollections} />`;
  const loud = items.filter((one) => one.state !== "ok");
  return html`<section aria-label=${t.overview.byState} class="stack">
    <div class="row wrap">
      ${STATES.filter((state) => states?.[state] > 0).map(
        (state) =>
          html`<a class=${`chip ${state}`} href=${link(["collections"], { state })}
            ><${Icon} name=${state} isColoured /><b>${states[state]}</b> ${t.states[state]}</a
          >`,
      )}
    </div>
    <ul class="tiles lg">
      ${loud.map((one) => html`<li key=${one.id}><${LoudTile} collection=${one} now=${now} /></li>`)}
    </ul>
    <ul class=${isWhole ? "tiles" : "tiles phone-cut"}>
      ${shown.map(
        (one) =>
          html`<li key=${one.id}>
            <${Part}
              uses=${[one, sizes.byId[one.id], now]}
              draw=${() => html`<${QuietTile} collection=${one} sizes=${sizes.byId[one.id]} now=${now} />`}
            />
          </li>`,
      )}
    </ul>
    ${
      !isWhole &&
      quiet.length > 12 &&
      html`<button class=${quiet.length > shown.length ? "btn" : "btn more"} onClick=${() => setWhole(true)}>
        ${t.overview.showAll(quiet.length)}
      </button>`
    }
    ${sizes.error && html`<${ChartError} error=${sizes.error} at=${sizes.at} retry=${sizes.retry} />`}
    ${Object.keys(sizes.byId).length > 0 && html`<p class="faint sm">${t.overview.bars}</p>`}
  </section>`;
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

function QuietTile({ collection, sizes, now }) {
  const last = collection.last_version;
  return html`<a class="tile ok" href=${link(["collections", collection.id])}>
    <${StateIcon} state="ok" />
    <span class="cut" title=${collection.name}>${collection.name}</span>
    <span class="faint">${last ? `${elapsed(last.at, now, { isShort: true })} · ${size(last.size)}` : t.none}</span>
    ${sizes && html`<${Sparkline} values=${sizes.slice(-10)} label=${t.overview.sizes(collection.name)} />`}
  </a>`;
}

function NoCollections() {
  const access = useAccess();
  return html`<div class="card">
    <${Empty} icon="collections" title=${t.noCollections.title} text=${t.noCollections.text}>
      ${
        access.may("collection.create") &&
        html`<a class="btn pri" href=${link(["collections", "new"])}
          ><${Icon} name="plus" />${t.noCollections.create}</a
        >`
      }
    <//>
  </div>`;
}
