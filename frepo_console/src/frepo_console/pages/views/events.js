// Events: who did what, and what it was before. New ones appear by themselves.

import { Part, html, useEffect, useMemo, useRef, useState, useSteps } from "../lib/html.js";
import { useAccess } from "../lib/access.js";
import { apiUrl, headersWithToken } from "../lib/api.js";
import { EventLine, eventTitle, partsText, uploadsAsOne } from "../components/event.js";
import { readAll, useList, useNow } from "../lib/data.js";
import { exactTime, relative, timeOfDay, today } from "../lib/format.js";
import { changeQuery, link } from "../lib/navigation.js";
import { Empty, ErrorNote, Skeleton } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import { ListEnd } from "../components/table.js";
import { t as common } from "../texts.js";
import { t } from "../texts/events.js";
import { Details } from "./events/details.js";
import { GROUPS, actorOf, detailOf, signOf } from "./events/describe.js";

const LIVE_SECONDS = 3;
const POLL_SECONDS = 15;
const DAY = 24 * 3600 * 1000;
const PERIODS = [1, 7, 30, 365];

export default function Events({ route }) {
  const access = useAccess();
  const { query } = route;
  const [isLive, setLive] = useState(false);
  const filters = filtersOf(query);
  const list = useList("/events", {
    query: filters,
    name: query.toString(),
    every: isLive ? LIVE_SECONDS : POLL_SECONDS,
  });
  const toggleLive = () => {
    setLive(!isLive);
    list.reload();
  };
  const names = useNames(list, access.may("collection.list"));
  return html`<header class="head">
      <h1>${common.menu.events}</h1>
      <div class="row">
        <button class="btn" aria-pressed=${String(isLive)} title=${t.liveHint} onClick=${toggleLive}>
          <${Icon} name=${isLive ? "ok" : "play"} />${t.live}
        </button>
        <${Export} filters=${filters} suffix="csv" title=${t.csv} /><${Export}
          filters=${filters}
          suffix="jsonl"
          title=${t.json}
        />
      </div>
    </header>
    <${Filters} query=${query} names=${names} />
    ${list.error && html`<${ErrorNote} error=${list.error} at=${list.at} retry=${list.retry} />`}
    ${list.items === null && list.isSlow && !list.error && html`<div class="card"><${Skeleton} /></div>`}
    ${list.items?.length === 0 && html`<${Nothing} isFiltered=${query.size > 0} />`}
    ${list.items?.length > 0 && html`<${Days} list=${list} names=${names} />`}`;
}

function filtersOf(query) {
  const days = Number(query.get("days"));
  return {
    kind: GROUPS[query.get("group")] ?? query.getAll("kind"),
    collection: query.get("collection") ?? "",
    q: query.get("q") ?? "",
    actor: query.get("actor") ?? "",
    // Of the full hour: as long as the address of the request is the same, an unchanged answer is not sent again.
    since: days ? new Date((Math.floor((Date.now() / DAY) * 24) / 24) * DAY - days * DAY).toISOString() : "",
  };
}

/**
 * The names of collections by id: "" for one that was deleted or is not visible. They are read when an id is new, and
 * after a failure again, with the list or, as a long list is not read again, as often as others.
 */
function useNames({ items, at }, isAllowed) {
  const [names, setNames] = useState({});
  const [failures, setFailures] = useState(0);
  const isAsking = useRef(false);
  const ids = (items ?? []).map((event) => event.collection_id).filter(Boolean);
  const unknown = ids.find((id) => !(id in names));
  useEffect(() => {
    if (!isAllowed || !unknown || isAsking.current) return;
    isAsking.current = true;
    const missing = Object.fromEntries(ids.map((id) => [id, ""]));
    const show = (found) =>
      setNames((old) => ({ ...missing, ...old, ...Object.fromEntries(found.map((one) => [one.id, one.name])) }));
    readAll("/collections", { query: { fields: "name" } })
      .then(show, () => setTimeout(() => setFailures((count) => count + 1), POLL_SECONDS * 1000))
      .finally(() => (isAsking.current = false));
  }, [isAllowed, unknown, names, failures, at]);
  return names;
}

function Filters({ query, names }) {
  const group = query.get("group") ?? "";
  const collection = query.get("collection");
  const choose = (name) => changeQuery({ group: name === group ? "" : name });
  return html`<div class="stack" role="search">
    <div class="row wrap">
      <button class="chip" aria-pressed=${String(!group)} onClick=${() => choose("")}>${t.all}</button>
      ${Object.entries(t.groups).map(
        ([name, title]) =>
          html`<button class="chip" aria-pressed=${String(name === group)} onClick=${() => choose(name)}>
            ${title}
          </button>`,
      )}
    </div>
    <div class="row wrap">
      <div class="search">
        <${Icon} name="search" /><input
          class="in"
          type="search"
          data-search
          aria-label=${t.search}
          placeholder=${t.searchHint}
          value=${query.get("q") ?? ""}
          onChange=${(event) => changeQuery({ q: event.target.value.trim() })}
        />
      </div>
      <select class="in" aria-label=${t.period} onChange=${(event) => changeQuery({ days: event.target.value })}>
        <option value="">${t.anyTime}</option>
        ${PERIODS.map(
          (days) =>
            html`<option value=${days} selected=${String(days) === query.get("days")}>${t.since(days)}</option>`,
        )}
      </select>
      ${
        collection &&
        html`<button class="chip" aria-pressed="true" onClick=${() => changeQuery({ collection: "" })}>
          <span class="cut">${t.of(names[collection] || collection)}</span
          ><${Icon} name="close" label=${common.clear} />
        </button>`
      }
    </div>
  </div>`;
}

const Nothing = ({ isFiltered }) =>
  html`<div class="card">
    <${Empty} icon="events" title=${isFiltered ? t.noMatch : t.empty}>
      ${isFiltered && html`<a class="btn" href=${link(["events"])}>${common.clearFilters}</a>`}
    <//>
  </div>`;

/** The events under the day on which they happened. */
function Days({ list, names }) {
  const now = useNow();
  /** @type {{ day: string; events: any[] }[]} */
  const days = [];
  const items = useMemo(() => uploadsAsOne(list.items), [list.items]);
  for (const event of items.slice(0, useSteps(items.length))) {
    const day = new Date(event.at).toDateString();
    if (days.at(-1)?.day !== day) days.push({ day, events: [] });
    days.at(-1)?.events.push(event);
  }
  return html`${days.map(
      ({ day, events }) =>
        html`<section class="card flush" key=${day}>
          <div class="sec"><h2>${today(new Date(day))}</h2></div>
          <ul class="list">
            ${events.map(
              (event) =>
                html`<${Part}
                  key=${event.position}
                  uses=${[event, names, now]}
                  draw=${() => html`<${Row} event=${event} names=${names} now=${now} />`}
                />`,
            )}
          </ul>
        </section>`,
    )}
    <div class="card flush"><${ListEnd} list=${list} /></div>`;
}

function Row({ event, names, now }) {
  const [isOpen, setOpen] = useState(false);
  const { state, icon } = signOf(event);
  const collection = event.collection_id;
  const toggle = () => setOpen(!isOpen);
  return html`<li class=${state ?? ""}>
    <${Icon} name=${state ?? icon} label=${state && common.states[state]} isColoured />
    <div class="grow">
      <div class="row wrap">
        <b>${eventTitle(event)}</b
        ><span class="dim sm">${[detailOf(event), partsText(event)].filter(Boolean).join(" · ")}</span>
      </div>
      <div class="row wrap sm">
        ${
          collection &&
          html`<a class="cut" href=${link(["collections", collection])}>${names[collection] || t.collection}</a>`
        }
        <span class="dim">${t.by(actorOf(event))}${event.address && ` ${t.from(event.address)}`}</span>
      </div>
      ${isOpen && html`<${Details} event=${event} />`}
      ${
        isOpen &&
        event.parts.length > 0 &&
        html`<ul class="list">
          ${event.parts.map((part) => html`<${EventLine} key=${part.position} event=${part} now=${now} />`)}
        </ul>`
      }
    </div>
    <time class="end" datetime=${event.at} title=${exactTime(event.at)}
      >${now.getTime() - new Date(event.at).getTime() < 3600_000 ? relative(event.at, now) : timeOfDay(event.at)}</time
    >
    <button class="btn bare s" aria-expanded=${String(isOpen)} aria-label=${t.more(event.position)} onClick=${toggle}>
      <${Icon} name=${isOpen ? "minus" : "more"} />
    </button>
  </li>`;
}

/** A button that downloads all events of the filters. The token is in a header, so a link would not do. */
function Export({ filters, suffix, title }) {
  const [error, setError] = useState("");
  const save = async () => {
    const answer = await fetch(apiUrl(`/events.${suffix}`, filters), {
      headers: headersWithToken(),
      credentials: "omit",
    }).catch(() => null);
    if (!answer?.ok) return setError(answer ? common.errors.unknown(answer.status) : common.errors.offline);
    setError("");
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(await answer.blob());
    anchor.download = `events.${suffix}`;
    anchor.click();
    return setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
  };
  return html`<button class="btn" title=${t.exportAs(title)} onClick=${save}>
      <${Icon} name="download" />${title}
    </button>
    ${error && html`<span class="err overdue" role="alert">${error}</span>`}`;
}
