// One collection: what is wrong and what solves it, else the last version; each section is a tab with its own URL.

import { html, useEffect, useState } from "../lib/html.js";
import { useAccess } from "../lib/access.js";
import { apiUrl, path, read } from "../lib/api.js";
import { useNow, useResource } from "../lib/data.js";
import { dateTime, exactTime, relative, size } from "../lib/format.js";
import { link } from "../lib/navigation.js";
import { upload, useInterrupted } from "../lib/transfers.js";
import { ActionButton } from "../components/action.js";
import { Empty, Loaded, NoPermission } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import Slots, { Slot, useSlots } from "../components/slots.js";
import { StateBadges, Tag, expectation } from "../components/state.js";
import { DropZone, Transfers, useDrop } from "../components/transfers.js";
import { t } from "../texts/collection.js";
import { AllowedTokens } from "./collection/allowed_tokens.js";
import { DeleteButton } from "./collection/delete_button.js";
import { Events } from "./collection/events.js";
import { Hold } from "./collection/hold.js";
import { Runs } from "./collection/runs.js";
import { SameContent } from "./collection/same_content.js";
import { Compressed, Send } from "./collection/send.js";
import { Settings } from "./collection/settings.js";
import { downloadVersion } from "./collection/versions/actions.js";
import { Trouble, isTroubled } from "./collection/trouble.js";
import { Versions } from "./collection/versions.js";

/** @typedef {{ name: string; View: Function; needsHere?: string; needs?: string; slot?: ConsoleSlot }} Tab */

/**
 * The tabs, each with what the token needs in the collection, or with what it needs at all.
 *
 * @type {Tab[]}
 */
const TABS = [
  { name: "versions", View: Versions, needsHere: "version.list" },
  { name: "runs", View: Runs, needsHere: "version.list" },
  { name: "settings", View: Settings, needsHere: "collection.edit" },
  { name: "access", View: AllowedTokens, needsHere: "collection.tokens" },
  { name: "send", View: Send },
  { name: "events", View: Events, needs: "events.view" },
];

export default function CollectionView({ id, tab, route }) {
  const now = useNow();
  const access = useAccess();
  const collection = useResource(`/collections${path(id)}`);
  if (collection.error?.status === 403 && !collection.data)
    return html`<h1>${t.menu.collections}</h1>
      <${NoPermission} action=${access.may("collection.list") ? "collection.fetch" : "collection.list"} />`;
  if (collection.error?.status === 404 && !collection.data)
    return html`<h1 class="vh">${t.collection.gone}</h1>
      <div class="card">
        <${Empty} icon="collections" title=${t.collection.gone} text=${t.errors.notFoundText}
          ><a class="btn" href=${link(["collections"])}>${t.menu.collections}</a><//
        >
      </div>`;
  return html`<${Loaded} resource=${collection}
    >${(data) =>
      html`<${Shown} collection=${data} resource=${collection} tab=${tab} query=${route.query} now=${now} />`}<//
  >`;
}

function Shown({ collection, resource, tab, query, now }) {
  const access = useAccess();
  const { may } = collection;
  /** @type {Tab[]} */
  const tabs = [
    ...TABS.filter(({ needs, needsHere }) => (!needs || access.may(needs)) && (!needsHere || may.includes(needsHere))),
    ...useSlots("collection.tab", collection).map((slot) => ({ name: `x-${slot.name}`, View: Slot, slot })),
  ];
  const current = tabs.find((one) => one.name === tab) ?? tabs[0];
  const [isUploading, setUploading] = useState(false);
  const [changes, setChanges] = useState(0);
  const changed = () => {
    setChanges((count) => count + 1);
    resource.reload();
  };
  useEffect(() => {
    document.title = `${collection.name} · ${t.product}`;
  }, [collection.name]);
  const [isOver, setOver] = useState(false);
  const take = (files) => {
    setUploading(false);
    const url = apiUrl(`/collections${path(collection.id)}/versions`);
    for (const file of files) {
      const inParts = access.inParts({ collection: collection.id, filename: file.name });
      upload({
        topic: collection.id,
        file,
        url,
        inParts,
        refusal: refusalOf(file, collection.limits),
        finished: changed,
      });
    }
  };
  useInterrupted(collection.id, access.inParts({}), { finished: changed });
  useDrop(may.includes("version.upload") ? take : null, setOver);
  const startUpload = () => setUploading(!isUploading);
  return html`<${Head} collection=${collection} startUpload=${startUpload} now=${now} />
    ${
      (isUploading || isOver) &&
      html`<${DropZone} isOver=${isOver} title=${t.collection.drop} text=${t.collection.dropText} take=${take} />`
    }
    <${Transfers} topic=${collection.id} />
    <${Trouble} ...${{ collection, startUpload, changed, now }} />
    <${Hold} ...${{ collection, changed }} />
    <${Facts} collection=${collection} now=${now} />
    <${SameContent} collection=${collection} />
    <${Compressed} collection=${collection} />
    <${Slots} place="collection.card" collection=${collection} changed=${changed} />
    <nav class="tabs" aria-label=${t.collection.sections}>
      ${tabs.map(
        (one) =>
          html`<a
            href=${link(["collections", collection.id, one.name])}
            ref=${one === current ? scrollTo : null}
            aria-current=${one === current ? "page" : undefined}
            >${one.slot?.title ?? t.collection.tabs[one.name]}</a
          >`,
      )}
    </nav>
    <${current.View}
      key=${current.name}
      slot=${current.slot}
      collection=${collection}
      changed=${changed}
      changes=${changes}
      query=${query}
      now=${now}
    />`;
}

/** Shows a tab in a row that is wider than the page; the page itself is not scrolled. */
function scrollTo(tab) {
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft;
}

/** Why a file would be refused: it is not sent for that. */
function refusalOf(file, { version_size: one, total_size: all }) {
  const most = Math.min(one || Infinity, all || Infinity);
  return file.size > most ? t.collection.tooLarge(size(file.size), size(most)) : "";
}

function Head({ collection, startUpload, now }) {
  const access = useAccess();
  const { last_version: last, newest_good: good, may } = collection;
  return html`<header class="head">
    <div>
      ${access.may("collection.list") && html`<a class="sm" href=${link(["collections"])}>${t.menu.collections}</a>`}
      <h1>${collection.name}</h1>
      <p class="row wrap">
        <${StateBadges} collection=${collection} />
        <span class="dim" title=${exactTime(collection.state_since)}
          >${t.collection.since(dateTime(collection.state_since, now))}</span
        >
        ${collection.labels.map((label) => html`<${Tag}>${label}<//>`)}
        <span class="dim">${collection.description}</span>
      </p>
    </div>
    <div class="row wrap">
      ${
        good &&
        good.number !== last?.number &&
        may.includes("version.list") &&
        html`<${ActionButton} className="btn" run=${() => downloadGood(collection)}
          ><${Icon} name="download" />${t.collection.downloadGood(good.number)}<//
        >`
      }
      ${
        last &&
        may.includes("version.list") &&
        html`<${ActionButton} className="btn" data-key="d" run=${() => downloadVersion(collection, last)}
          ><${Icon} name="download" />${t.collection.download(last.number)}<//
        >`
      }
      ${
        may.includes("version.upload") &&
        html`<button class=${isTroubled(collection) ? "btn" : "btn pri"} data-key="u" onClick=${startUpload}>
          <${Icon} name="upload" />${t.collection.upload}
        </button>`
      }
      ${may.includes("collection.delete") && html`<${DeleteButton} collection=${collection} />`}
    </div>
  </header>`;
}

/** Save what the name `good` stands for at this moment. */
async function downloadGood(collection) {
  await downloadVersion(collection, await read(`/collections${path(collection.id, "versions", "good")}`));
}

/** "Never" is said of one that never sent. */
const hasSent = ({ arrived_at: arrived, quarantined_versions: quarantined }) => Boolean(arrived || quarantined);

function Facts({ collection, now }) {
  const { last_version: last, newest_good: good, limits, due_at: due, state } = collection;
  const space = useResource(`/collections${path(collection.id)}/space`);
  const facts = [
    [
      t.facts.last,
      last ? relative(last.at, now) : hasSent(collection) ? t.none : t.never,
      last ? lastText(collection, now) : "",
    ],
    [
      t.facts.good,
      good ? relative(good.at, now) : hasSent(collection) ? t.none : t.never,
      good ? t.facts.lastText(good.number, dateTime(good.at, now)) : "",
      last && !good ? "failed" : "",
    ],
    [
      t.facts.next,
      due ? relative(due, now) : t.table.notSet,
      expectation(collection) || t.facts.unwatched,
      state === "late" || state === "overdue" ? state : "",
    ],
    [t.facts.versions, versionsText(collection), limitText(collection)],
    [
      t.facts.stored,
      size(collection.stored_size),
      [
        limits.total_size ? t.facts.of(size(limits.total_size)) : t.facts.unlimited,
        space.data?.encoded && t.facts.compacted(size(space.data.stored)),
        collection.compact_group && t.facts.group(collection.compact_group),
      ]
        .filter(Boolean)
        .join(", "),
    ],
  ];
  const tested = restoreFact(collection, now);
  if (tested) facts.push(tested);
  if ("trash_size" in collection)
    facts.push([
      t.facts.trash,
      size(collection.trash_size),
      collection.trash_size ? t.facts.trashText : t.facts.noTrash,
    ]);
  return html`<section class="card" aria-label=${t.facts.title}>
    <dl class="facts">
      ${facts.map(
        ([name, value, text, colour]) =>
          html`<div>
            <dt>${name}</dt>
            <dd class=${colour ? `${colour} fg` : ""}>${together(value)}<small>${text}</small></dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

/** "60 minutes ago" in one line. */
const together = (value) => value.replaceAll(" ", "\u00a0");

/** When the newest good restore test was, and that the last one failed if it did; nothing if there was none at all. */
function restoreFact({ restore_tested_at: tested, restore_tried_at: tried, restore_outcome: outcome }, now) {
  if (!tried) return null;
  const hasFailed = outcome === "broken";
  const text = hasFailed ? t.facts.restoreFailed(dateTime(tried, now)) : tested && dateTime(tested, now);
  return [t.facts.restore, tested ? relative(tested, now) : t.never, text, hasFailed ? "failed" : ""];
}

/** "version 12, 24 Nov 02:00, unchanged for 19 nights" */
function lastText({ last_version: last, unchanged_nights: nights }, now) {
  const text = t.facts.lastText(last.number, dateTime(last.at, now));
  return nights ? `${text}, ${t.facts.unchanged(nights)}` : text;
}

const versionsText = ({ versions, quarantined_versions: apart }) =>
  apart ? `${versions} + ${apart}` : String(versions);

/** "of 24, 1 pinned, 1 quarantined" */
function limitText({ limits, hold, pinned_versions: pinned, quarantined_versions: apart }) {
  const limit = hold ? t.facts.held : limits.versions ? t.facts.of(limits.versions) : t.facts.unlimited;
  return [limit, pinned && t.facts.pinned(pinned), apart && t.facts.quarantined(apart)].filter(Boolean).join(", ");
}
