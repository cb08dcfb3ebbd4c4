// Sign in: one field, and where to find what belongs into it.

import { html, useState } from "../lib/html.js";
import { API, signIn } from "../lib/api.js";
import { Check, Field } from "../components/form.js";
import { Icon, Logo } from "../components/icons.js";
import { t } from "../texts/sign_in.js";

export default function SignIn({ reason }) {
  const [token, setToken] = useState("");
  const [isForgotten, setForgotten] = useState(false);
  const [error, setError] = useState(reason);
  const [isSending, setSending] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setSending(true);
    const problem = await problemOf(token.trim());
    setSending(false);
    if (problem) setError(problem);
    else signIn(token.trim(), { isKept: !isForgotten });
  };
  const change = (value) => {
    setToken(value);
    setError("");
  };
  return html`<main class="alone">
    <form class="card stack sign-in" onSubmit=${submit}>
      <div class="brand row"><${Logo} />${t.product}</div>
      <h1>${t.signIn.title}</h1>
      <p class="dim">${t.signIn.text}</p>
      <${Field}
        label=${t.signIn.token}
        type="password"
        value=${token}
        change=${change}
        error=${error}
        autofocus
        spellcheck="false"
        required
      />
      <${Check} label=${t.signIn.memory} value=${isForgotten} change=${setForgotten} />
      <button class="btn pri" disabled=${isSending || !token.trim()}>${t.signIn.button}</button>
      <p class="faint sm row"><${Icon} name="lock" />${t.signIn.privacy}</p>
    </form>
    <section class="stack sign-in">
      <h2>${t.signIn.whereTitle}</h2>
      <dl class="stack">
        ${t.signIn.where.map(
          ([what, text]) =>
            html`<div>
              <dt><code>${what}</code></dt>
              <dd class="dim">${text}</dd>
            </div>`,
        )}
      </dl>
    </section>
  </main>`;
}

/** Ask the service about a token. Return why it is not accepted, or an empty text. */
async function problemOf(token) {
  try {
    const answer = await fetch(API, {
      headers: { Authorization: `Bearer ${token}` },
      cache: "no-store",
      credentials: "omit",
    });
    if (answer.ok) return "";
    if (answer.status === 401) return t.errors.refusedToken;
    const body = await answer.json().catch(() => ({}));
    return body.detail ?? t.errors.unknown(answer.status);
  } catch {
    return t.errors.offline;
  }
}
