// Asks whether a link may replace the session: somebody else may have made it, to see what the person does next.

import { html } from "../lib/html.js";
import { signIn } from "../lib/api.js";
import { Confirm } from "../components/dialog.js";
import { t } from "../texts/sign_in.js";

export default function ReplaceSession({ token, close }) {
  return html`<${Confirm}
    title=${t.signIn.replaceTitle}
    action=${t.signIn.replace}
    run=${() => signIn(token)}
    close=${close}
  >
    <p>${t.signIn.replaceText}</p>
  <//>`;
}
