// The secret of a new token: shown once, to copy, to save as a file, and with a line to try.

import { html } from "../../lib/html.js";
import { API } from "../../lib/api.js";
import { dateTime } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { Note } from "../../components/feedback.js";
import { CopyButton } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { IS_STORED, TOKEN_FILE, quoted } from "../../components/shell_text.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/tokens.js";
import { presetOf } from "./presets.js";

const HEADER_FILE = "token.header";

export function Secret({ token }) {
  const file = URL.createObjectURL(new Blob([`Authorization: Bearer ${token.secret}\n`], { type: "text/plain" }));
  const snippet = snippetOf(token);
  const title = token.replaces ? t.rotated : t.made;
  return html`<section class="card stack ok" aria-live="polite">
    <div class="row">
      <${Icon} name="ok" isColoured />
      <h2 class="grow">${title(token.name ?? token.fingerprint)}</h2>
      <a class="btn bare s" aria-label=${common.close} href=${link(["tokens"])}><${Icon} name="close" /></a>
    </div>
    <b>${t.copyNow}</b>
    <output class="secret">${token.secret}</output>
    <div class="row wrap">
      <${CopyButton} text=${token.secret} label=${t.copySecret} isPrimary />
      <a class="btn" href=${file} download=${HEADER_FILE}><${Icon} name="download" />${t.headerFile}</a>
    </div>
    ${
      token.failed?.length > 0 &&
      html`<${Note} state="overdue" role="alert">${t.notGranted(token.failed.map((one) => one.name).join(", "))}<//>`
    }
    ${
      token.replaces &&
      html`<${Note} state="late"
        >${t.oldEnds([token.replaces, ...token.also_ended], dateTime(token.replaced_ends_at))}<//
      >`
    }
    <h3>${t.tryIt}</h3>
    <pre tabindex="0">${snippet}</pre>
    <div class="row"><${CopyButton} text=${snippet} /></div>
    <p class="faint sm">${t.forgets(token.fingerprint)}</p>
  </section>`;
}

/** A line for a shell: upload to the first collection, list it, or ask who the token is. */
function snippetOf({ roles, collections }) {
  const protect = `sudo install -D -m 600 -o "$USER" ${HEADER_FILE} ${TOKEN_FILE}\n`;
  const begin = `${protect}curl --fail-with-body -sS -H @${TOKEN_FILE} \\\n`;
  const [first] = collections ?? [];
  if (!first) return `${begin}  ${API}`;
  const versions = `${API}/collections/${first.id}/versions`;
  return ["send", "both"].includes(presetOf(roles))
    ? `${begin}  -i -T ${quoted(first.name)} \\\n  ${versions} \\\n  | ${IS_STORED}`
    : // Here -f: an error must not be written into the file.
      `${protect}curl -fsS -H @${TOKEN_FILE} -o ${quoted(first.name)} \\\n  ${versions}/latest/content`;
}
