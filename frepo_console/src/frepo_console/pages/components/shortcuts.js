// The list of shortcuts, with a switch for those of single letters.

import { html, useState } from "../lib/html.js";
import { areShortcutsOn, switchShortcuts } from "../lib/navigation.js";
import { t } from "../texts/shortcuts.js";
import { Dialog } from "./dialog.js";
import { Check } from "./form.js";

export default function Shortcuts({ close }) {
  const [isOn, setOn] = useState(areShortcutsOn);
  const change = (value) => {
    switchShortcuts(value);
    setOn(value);
  };
  return html`<${Dialog} title=${t.title} close=${close}>
    <dl class="keys">
      ${t.list.map(
        ([key, text]) =>
          html`<dt><kbd>${key}</kbd></dt>
            <dd>${text}</dd>`,
      )}
    </dl>
    <${Check} label=${t.on} value=${isOn} change=${change} />
  <//>`;
}
