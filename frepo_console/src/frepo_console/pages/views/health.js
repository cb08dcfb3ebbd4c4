// Health: what works, what is damaged, what the jobs found, and what is installed.

import { html } from "../lib/html.js";
import { useAccess } from "../lib/access.js";
import { useResource } from "../lib/data.js";
import { link } from "../lib/navigation.js";
import { Lazy, Loaded, NoPermission } from "../components/feedback.js";
import { Badge } from "../components/badge.js";
import { Icon } from "../components/icons.js";
import Slots from "../components/slots.js";
import { t as common } from "../texts.js";
import { t } from "../texts/health.js";
import { Damage } from "./health/damage.js";
import { Fires } from "./health/fires.js";
import { Plugins, Settings } from "./health/installation.js";
import { Jobs } from "./health/jobs.js";
import { Storages } from "./health/storages.js";
import { Targets } from "./health/targets.js";

const SLOW_POLL = 60;
/** What a token must be allowed to do to see a tab. */
const NEEDS = { evidence: "report.view", settings: "settings.view", plugins: "settings.view" };
const loadEvidence = () => import("./health/evidence.js");

export default function Health({ route }) {
  const access = useAccess();
  const [, tab = ""] = route.parts;
  const mayJobs = access.may("jobs.view");
  const health = useResource(mayJobs ? "/health" : null, { every: SLOW_POLL });
  const damage = useResource(mayJobs ? "/damage" : null, { every: SLOW_POLL });
  const jobs = useResource(mayJobs ? "/jobs" : null, { every: 5 });
  const tabs = Object.entries(t.tabs).filter(([name]) => !NEEDS[name] || access.may(NEEDS[name]));
  return html`<header class="head">
      <div>
        <h1>${health.data ? verdict(health.data) : common.menu.health}</h1>
        <p class="dim">${summary(jobs.data, damage.data)}</p>
      </div>
    </header>
    ${
      tabs.length > 1 &&
      html`<nav class="tabs" aria-label=${t.tabsLabel}>
        ${tabs.map(
          ([name, title]) =>
            html`<a href=${link(["health", name].filter(Boolean))} aria-current=${name === tab ? "page" : undefined}
              >${title}</a
            >`,
        )}
      </nav>`
    }
    ${
      tab === "evidence"
        ? html`<${Lazy} load=${loadEvidence} query=${route.query} />`
        : tab === "settings"
          ? html`<${Settings} query=${route.query} />`
          : tab === "plugins"
            ? html`<${Plugins} />`
            : html`<${State} health=${health} damage=${damage} jobs=${jobs} open=${route.query.get("job")} />`
    }`;
}

const verdict = ({ good, checks }) => (good ? t.good : t.bad(checks.filter((one) => !one.good).length));

function summary(jobs, damage) {
  const failing = jobs?.items.filter((one) => hasFailed(one)).length;
  return [failing > 0 && t.failing(failing), damage?.items.length > 0 && t.damaged(damage.items.length)]
    .filter(Boolean)
    .join(" ");
}

const hasFailed = (job) => ["failed", "lost"].includes(job.last_run?.outcome);

function State({ health, damage, jobs, open }) {
  const access = useAccess();
  if (!access.may("jobs.view")) return html`<${NoPermission} action="jobs.view" /><${Storages} />`;
  const isDamaged = damage.data?.items.length > 0;
  return html`<div class="cols">
    <div class="w7 stack">
      <section class="card flush">
        <div class="sec"><h2>${t.checks}</h2></div>
        <${Loaded} resource=${health} lines=${5}>${(data) => html`<${Checks} checks=${data.checks} />`}<//>
        <ul class="list">
          <${Slots} place="health.row" />
        </ul>
      </section>
      ${isDamaged && html`<${Damage} resource=${damage} />`}
      <${Jobs} resource=${jobs} open=${open} />
      ${!isDamaged && html`<${Damage} resource=${damage} />`}
    </div>
    <div class="w5 stack">
      ${access.may("settings.view") && html`<${Storages} />`}
      <${Fires} />
      ${access.may("settings.view") && access.has("notification-targets") && html`<${Targets} />`}
      ${access.may("metrics.view") && html`<${Badge} path="/badge" />`}
    </div>
  </div>`;
}

/** Those with problems; the others are folded. */
function Checks({ checks }) {
  const [bad, good] = [false, true].map((isGood) => checks.filter((one) => one.good === isGood));
  return html`${bad.length > 0 && html`<${CheckList} checks=${bad} />`}
  ${
    good.length > 0 &&
    html`<details>
      <summary class="list-end">${t.checksFine(good.length, bad.length)}</summary>
      <${CheckList} checks=${good} />
    </details>`
  }`;
}

const CheckList = ({ checks }) =>
  html`<ul class="list">
    ${checks.map((one) => html`<${Check} key=${one.name} check=${one} />`)}
  </ul>`;

function Check({ check }) {
  const state = check.good ? "ok" : check.name === "blobs" ? "damaged" : "overdue";
  return html`<li class=${state}>
    <${Icon} name=${state} label=${check.good ? common.states.ok : common.states[state]} isColoured />
    <div class="grow">
      <b>${t.checkName(check.name)}</b>
      ${check.problems.map((text) => html`<div class="sm fg">${t.problem(text)}</div>`)}
    </div>
  </li>`;
}
