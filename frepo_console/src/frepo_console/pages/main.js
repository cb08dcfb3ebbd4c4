// The console: signs in, reads who the token is, and shows the view of the URL.

import { html, render, useEffect, useState } from "./lib/html.js";
import { About, Access } from "./lib/access.js";
import { currentToken, forgetAnswers, onSessionChange, takeTokenFromLink } from "./lib/api.js";
import { useResource } from "./lib/data.js";
import { link, useRoute } from "./lib/navigation.js";
import { Empty, ErrorNote, Lazy, NoPermission, Note } from "./components/feedback.js";
import { Frame, MorePage, Shell, applyTheme } from "./components/shell.js";
import { t } from "./texts.js";

const ABOUT_SECONDS = 300;

/**
 * The views: the key that opens each after `g`, and its module. It is in the menu if the token may do one of `needs`.
 */
const VIEWS = [
  {
    name: "overview",
    key: "o",
    needs: ["metrics.view", "collection.list"],
    load: () => import("./views/overview.js"),
  },
  { name: "collections", key: "c", needs: ["collection.list"], load: () => import("./views/collections.js") },
  { name: "files", key: "f", needs: ["file.list", "file.upload"], load: () => import("./views/files.js") },
  { name: "tokens", key: "t", needs: ["token.list"], load: () => import("./views/tokens.js") },
  { name: "events", key: "e", needs: ["events.view"], load: () => import("./views/events.js") },
  {
    name: "health",
    key: "h",
    needs: ["jobs.view", "settings.view", "report.view"],
    load: () => import("./views/health.js"),
  },
];

function App() {
  const [offered, offer] = useState(takeTokenFromLink);
  const [session, setSession] = useState({ token: currentToken(), reason: "" });
  useEffect(
    () =>
      onSessionChange((reason = "") => {
        forgetAnswers();
        setSession({ token: currentToken(), reason });
      }),
    [],
  );
  useEffect(() => {
    // Each link is a question of its own. Another change of the address leaves the question open.
    const take = () => offer((known) => takeTokenFromLink() ?? known);
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  const view =
    session.token === null
      ? html`<${Lazy} load=${loadSignIn} wait=${html`<${Frame} />`} reason=${session.reason} />`
      : html`<${SignedIn} key=${session.token} />`;
  if (!offered) return view;
  return html`${view}<${Lazy} load=${loadReplaceSession} token=${offered} close=${() => offer(null)} />`;
}

const loadSignIn = () => import("./views/sign_in.js");
const loadReplaceSession = () => import("./views/replace_session.js");

function SignedIn() {
  const about = useResource("", { every: ABOUT_SECONDS });
  if (about.data === null)
    return about.error
      ? html`<main class="alone"><${ErrorNote} error=${about.error} retry=${about.retry} /></main>`
      : html`<${Frame} />`;
  return html`<${About.Provider} value=${about.data}><${CurrentView} about=${about.data} /><//>`;
}

function CurrentView({ about }) {
  const route = useRoute();
  const access = new Access(about);
  const allowed = VIEWS.filter((view) => view.needs.some((action) => access.may(action)));
  const [first = (allowed[0] ?? VIEWS[0]).name] = route.parts;
  const view = VIEWS.find((one) => one.name === first);
  useEffect(() => {
    document.title = `${t.menu[first] ?? t.errors.notFound} · ${t.product}`;
  }, [first]);
  return html`<${Shell} current=${first} views=${allowed}>
    ${about.read_only && html`<${Note} state="late" title=${t.menu.readOnly} />`}
    ${
      first === "more"
        ? html`<${MorePage} />`
        : !view
          ? html`<${NotFound} />`
          : allowed.includes(view) || isOneCollection(route)
            ? html`<${Lazy} key=${view.name} load=${view.load} route=${route} />`
            : html`<h1>${t.menu[view.name]}</h1>
                <${NoPermission} action=${view.needs[0]} />`
    }
  <//>`;
}

/**
 * A token may see a collection without those of the list: the service decides.
 *
 * @param {Route} route
 */
const isOneCollection = ({ parts: [first, id] }) => first === "collections" && id !== undefined && id !== "new";

const NotFound = () =>
  html`<h1 class="vh">${t.errors.notFound}</h1>
    <div class="card">
      <${Empty} icon="search" title=${t.errors.notFound} text=${t.errors.notFoundText}>
        <a class="btn" href=${link([])}>${t.errors.toOverview}</a>
      <//>
    </div>`;

applyTheme();
render(html`<${App} />`, document.body);
