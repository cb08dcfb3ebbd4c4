// The frame of each view: the menu, the bar of a phone, the shortcuts that work everywhere.

import { html, useContext, useEffect, useState } from "../lib/html.js";
import { signOut } from "../lib/api.js";
import { About, useAccess } from "../lib/access.js";
import { Overview, POLL_SECONDS, useResource } from "../lib/data.js";
import { percent } from "../lib/format.js";
import { go, link, useRoute, useShortcuts } from "../lib/navigation.js";
import { t } from "../texts.js";
import { Lazy } from "./feedback.js";
import { Icon, Logo } from "./icons.js";

/** What the page shows before it knows who the token is: that of `index.html`, which is there before any module. */
export const Frame = ({ children = html`<div class="skel"></div>` }) =>
  html`<div class="side">
      <div class="brand row"><${Logo} /><span>${t.product}</span></div>
    </div>
    <main>${children}</main>`;

const RARELY_SECONDS = 60;

/** `views` are those that the token may see, `current` is the name of the one that is shown. */
export function Shell({ current, views, children }) {
  const [isHelping, setHelping] = useState(false);
  const every = current === "overview" ? POLL_SECONDS : RARELY_SECONDS;
  const overview = useResource(useAccess().may("metrics.view") ? "/overview" : null, { every });
  useShortcuts({
    "?": () => setHelping(true),
    "/": () => focusOn("[data-search]"),
    n: () => press("[data-key=n]"),
    u: () => press("[data-key=u]"),
    d: () => press("[data-key=d]"),
    p: () => press("[data-key=p]"),
    ...Object.fromEntries(views.map((view) => [`g ${view.key}`, () => go([view.name])])),
  });
  return html`<${Overview.Provider} value=${overview}
    ><nav class="side" aria-label=${t.menu.label}>
      <button class="skip btn" onClick=${() => document.querySelector("main")?.focus()}>${t.menu.skip}</button>
      <div class="brand row"><${Logo} /><span>${t.product}</span></div>
      ${views.map((view) => html`<${MenuEntry} key=${view.name} view=${view} isCurrent=${view.name === current} />`)}
      <${PluginPages} />
      <a
        class="small"
        href=${link(["more"])}
        aria-current=${current === "more" ? "page" : undefined}
        title=${t.menu.more}
        ><${Icon} name="more" /><span>${t.menu.more}</span></a
      >
      <${Foot} help=${() => setHelping(true)} />
    </nav>
    <main tabindex="-1">${children}<${Tray} /></main>
    ${isHelping && html`<${Lazy} load=${loadShortcuts} close=${() => setHelping(false)} />`}<//
  >`;
}

/** The uploads and downloads that run, on the pages that do not show them. They announce themselves by events. */
function Tray() {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const { parts } = useRoute();
  useEffect(() => {
    const show = (event) => setFound(event.detail);
    addEventListener("transfers", show);
    return () => removeEventListener("transfers", show);
  }, []);
  if (!found || parts.includes(found.topic)) return null;
  const target = found.topic === "files" ? ["files"] : ["collections", found.topic];
  return html`<div class="bar" role="status">
    <${Icon} name=${found.active ? "upload" : "overdue"} />
    <span class="grow">${t.tray.text(found.active, found.failed, percent(found.share))}</span>
    <a class="btn" href=${link(target)}>${t.tray.show}</a>
  </div>`;
}

const loadShortcuts = () => import("./shortcuts.js");
const focusOn = (selector) => document.querySelector(selector)?.focus();
const press = (selector) => {
  const found = document.querySelector(selector);
  found?.click();
  return Boolean(found);
};

function MenuEntry({ view, isCurrent }) {
  const title = t.menu[view.name];
  return html`<a href=${link([view.name])} aria-current=${isCurrent ? "page" : undefined} title=${title}>
    <${Icon} name=${view.name} /><span>${title}</span>
    ${view.name === "collections" && html`<${BadCollections} />`}
    ${view.name === "health" && html`<${FailingChecks} />`}
  </a>`;
}

/**
 * How many collections need attention, "?" if that cannot be read. It is drawn only if the token may read the overview.
 */
function BadCollections() {
  const overview = useContext(Overview);
  if (!overview.data) return overview.error && html`<span class="badge end" title=${t.menu.attentionUnknown}>?</span>`;
  const bad = overview.data.collections.in_trouble;
  return bad > 0 && html`<span class="badge overdue end" title=${t.menu.needAttention(bad)}>${bad}</span>`;
}

/** How many health checks have found a problem. */
function FailingChecks() {
  const health = useResource(useAccess().may("jobs.view") ? "/health" : null, { every: RARELY_SECONDS });
  const failing = health.data?.checks.filter((one) => !one.good).length ?? 0;
  return failing > 0 && html`<span class="badge overdue end" title=${t.menu.failingChecks(failing)}>${failing}</span>`;
}

/** The pages of plug-ins, outside of the console. Their paths are relative, for proxies that add a prefix. */
function PluginPages() {
  const { pages } = useContext(About);
  return pages.map(
    (page) =>
      html`<a key=${page.path} class="plugin" href=${`..${page.path}`} title=${page.title}
        ><${Icon} name="page" /><span class="cut">${page.title}</span></a
      >`,
  );
}

/** What the bar of a phone has no room for. */
export const MorePage = () =>
  html`<h1>${t.menu.more}</h1>
    <section class="card stack plugin-pages"><${PluginPages} /><${Foot} /></section>`;

function Foot({ help }) {
  const about = useContext(About);
  const [theme, setShown] = useState(currentTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const change = () => {
    setTheme(next);
    setShown(next);
  };
  return html`<div class="foot">
    <b class="cut" title=${location.host}>${location.host}</b>
    <span class="cut" title=${about.token.name ?? ""}
      >${about.token.name ?? ""} <code>${about.token.fingerprint}</code></span
    >
    <span>${t.product} ${about.version}</span>
    <span>${t.menu.zone(ZONE)}</span>
    <div class="row">
      <button class="btn bare s" title=${t.menu.theme[theme]} aria-label=${t.menu.theme[theme]} onClick=${change}>
        <${Icon} name="theme" />
      </button>
      ${
        help &&
        html`<button class="btn bare s" title=${t.menu.shortcuts} aria-label=${t.menu.shortcuts} onClick=${help}>
          <${Icon} name="keyboard" />
        </button>`
      }
      <button class="btn bare s" onClick=${() => signOut()}><${Icon} name="exit" />${t.menu.signOut}</button>
    </div>
  </div>`;
}

const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

// Light, dark, or what the browser prefers.
const THEME_KEY = "frepo.theme";
const THEMES = ["system", "light", "dark"];

const currentTheme = () => localStorage.getItem(THEME_KEY) ?? "system";

function setTheme(theme) {
  if (theme === "system") localStorage.removeItem(THEME_KEY);
  else localStorage.setItem(THEME_KEY, theme);
  applyTheme();
}

export function applyTheme() {
  const theme = currentTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event("themechange"));
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
