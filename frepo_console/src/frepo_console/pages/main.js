// The console: signs in, reads who the token is, and shows the view of the URL.

import { html, render, useEffect, useState } from "./lib/html.js";
import { About, Access } from "./lib/access.js";
import { forgetAnswers } from "./lib/api.js";
import { useResource } from "./lib/data.js";
import { link, useRoute } from "./lib/router.js";
import { currentToken, onSessionChange, takeTokenFromLink } from "./lib/session.js";
import { applyTheme } from "./lib/theme.js";
import { Empty, ErrorNote, Lazy, NoPermission, Note, Skeleton } from "./components/feedback.js";
import { MorePage, Shell } from "./components/shell.js";
import { t } from "./texts.js";
import { VIEWS, isAllowed } from "./views.js";

const ABOUT_SECONDS = 300;

function App() {
  const [session, setSession] = useState({ token: currentToken(), reason: "" });
  useEffect(
    () =>
      onSessionChange((reason = "") => {
        forgetAnswers();
        setSession({ token: currentToken(), reason });
      }),
    [],
  );
  if (session.token === null) return html`<${Lazy} load=${loadSignIn} reason=${session.reason} />`;
  return html`<${SignedIn} key=${session.token} />`;
}

const loadSignIn = () => import("./views/sign_in.js");

function SignedIn() {
  const about = useResource("", { every: ABOUT_SECONDS });
  if (about.data === null)
    return html`<main class="alone">
      ${about.error && html`<${ErrorNote} error=${about.error} retry=${about.reload} />`} ${about.isSlow && html`<${Skeleton} />`}
    </main>`;
  return html`<${About.Provider} value=${about.data}><${CurrentView} about=${about.data} /><//>`;
}

function CurrentView({ about }) {
  const route = useRoute();
  const access = new Access(about);
  const allowed = VIEWS.filter((one) => isAllowed(one, access));
  const [first = (allowed[0] ?? VIEWS[0]).name] = route.parts;
  const view = VIEWS.find((one) => one.name === first);
  useEffect(() => {
    document.title = `${t.menu[first] ?? t.errors.notFound} · ${t.product}`;
  }, [first]);
  return html`<${Shell} current=${first}>
    ${about.read_only && html`<${Note} state="late" title=${t.menu.readOnly} />`}
    ${first === "more"
      ? html`<${MorePage} />`
      : !view
      ? html`<${NotFound} />`
      : isAllowed(view, access)
        ? html`<${Lazy} key=${view.name} load=${view.load} route=${route} />`
        : html`<h1>${t.menu[view.name]}</h1><${NoPermission} action=${view.needs[0]} />`}
  <//>`;
}

const NotFound = () =>
  html`<h1 class="vh">${t.errors.notFound}</h1><div class="card"><${Empty} icon="search" title=${t.errors.notFound} text=${t.errors.notFoundText}>
    <a class="btn" href=${link([])}>${t.errors.toOverview}</a>
  <//></div>`;

applyTheme();
takeTokenFromLink();
addEventListener("hashchange", takeTokenFromLink);
render(html`<${App} />`, document.body);
