// How to send backups here: commands for this collection, to copy.

import { html, useState } from "../../lib/html.js";
import { API } from "../../lib/api.js";
import { CopyButton } from "../../components/form.js";
import { IS_STORED, TOKEN_FILE } from "../../components/shell_text.js";
import { t } from "../../texts/collection.js";
import { Enrol, service } from "./enrol.js";

const url = (collection) => `${API}/collections/${collection.id}/versions`;

/** A name that needs no quotes in a shell, a unit or a file. */
const safe = (collection) => collection.name.split(".")[0].replace(/[^A-Za-z0-9_-]+/g, "-") || "backup";

/** How the file with the token is made: nobody but its owner can read it at any time. */
const keep = (owner) => `# The file with the token, which only its owner can read:
#   echo "Authorization: Bearer <token>" | sudo install -D -m 600 -o ${owner} /dev/stdin ${TOKEN_FILE}`;
// A second attempt of `curl -T -` would begin in the middle of the dump: only files are sent with --retry.
const CURL = "curl --fail-with-body -isS --retry 5";

const SNIPPETS = {
  curl: (collection) => `${keep('"$USER"')}
# --retry is for files. Never use it with a pipe (-T -): a second attempt would begin in the middle of the dump.
# The dump is compressed on the way only: what its sender has compressed cannot be compacted.
${CURL} -T ./${safe(collection)}.dump.gz -H 'Content-Encoding: gzip' \\
  -H @${TOKEN_FILE} \\
  ${url(collection)} \\
  | ${IS_STORED}`,
  client: (
    collection,
  ) => `# It stores nothing if the command fails, and goes on where a broken connection has ended. It compresses on
# the way by itself: what its sender has compressed cannot be compacted.
curl -fsS -o frepo-client.pyz ${service}/client/frepo-client.pyz
sudo install -m 755 frepo-client.pyz /usr/local/bin/frepo-client
${keep('"$USER"')}
frepo-client --url ${service} --token-file ${TOKEN_FILE} \\
  pipe ${collection.id} -- pg_dump shop`,
  cron: (collection) => `# /etc/cron.d/backup-${safe(collection)}
${keep("postgres")}
SHELL=/bin/bash
12 3 * * * postgres set -euo pipefail; dump=$(mktemp -p /var/tmp); trap 'rm -f "$dump"' EXIT; pg_dump shop | gzip > "$dump"; ${CURL} -T "$dump" -H 'Content-Encoding: gzip' -H @${TOKEN_FILE} ${url(collection)} | ${IS_STORED}`,
  systemd: (collection) => `# /etc/systemd/system/backup-${safe(collection)}.service
${keep("root")}
[Service]
Type=oneshot
User=postgres
UMask=0077
PrivateTmp=true
LoadCredential=token.header:${TOKEN_FILE}
ExecStart=/bin/bash -c 'set -o pipefail; pg_dump shop | gzip > /tmp/dump.gz'
ExecStart=/bin/bash -c "set -o pipefail; ${CURL} -T /tmp/dump.gz -H 'Content-Encoding: gzip' -H @%d/token.header ${url(collection)} | ${IS_STORED}"

# /etc/systemd/system/backup-${safe(collection)}.timer
[Timer]
OnCalendar=*-*-* 03:12
RandomizedDelaySec=10min
Persistent=true
[Install]
WantedBy=timers.target`,
  bahub: (collection) => `# bahub.conf.yaml: bahub uses the first API
accesses:
  frepo:
    url: ${new URL(API).origin}
    token: "\${FREPO_TOKEN}"
backups:
  ${safe(collection)}:
    type: command_output
    command: "pg_dump shop"
    access: frepo
    collection_id: ${collection.id}`,
  newman: (collection) => JSON.stringify(newmanOf(collection), null, 2),
};

/** A collection of Postman with one request, for newman: it sends a file as a version. */
const newmanOf = (collection) => ({
  info: { name: collection.name, schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
  item: [
    {
      name: `Send ${collection.name}`,
      request: {
        method: "PUT",
        url: url(collection),
        header: [
          { key: "Authorization", value: "Bearer {{token}}" },
          { key: "Content-Encoding", value: "gzip" },
        ],
        body: { mode: "file", file: { src: `./${safe(collection)}.dump.gz` } },
      },
      protocolProfileBehavior: { followRedirects: false },
      event: [{ listen: "test", script: { exec: ["pm.test('stored', () => pm.response.to.have.status(201));"] } }],
    },
  ],
});

/** Says that the sender compresses, and how it would not: only what is sent uncompressed can be compacted. */
export function Compressed({ collection }) {
  const { compressed_by_sender: compression } = collection;
  if (!compression) return null;
  return html`<details class="dim">
    <summary>${t.send.compressed(compression)}</summary>
    <p>${t.send.compressOnTheWay}</p>
    <pre tabindex="0">curl -i -H 'Content-Encoding: gzip' -T dump.gz ${url(collection)} | ${IS_STORED}</pre>
  </details>`;
}

/** Lines for a shell of root: they write a file with the token, each collection its own, and the one for cron. */
export function cronBlock(collection, secret) {
  const name = safe(collection);
  const header = `/etc/frepo/${name}.header`;
  const file = `/etc/cron.d/backup-${name}`;
  return `umask 077
mkdir -p -m 755 /etc/frepo
echo 'Authorization: Bearer ${secret}' > ${header}
cat > ${file} << 'END'
SHELL=/bin/bash
12 3 * * * root umask 077; set -euo pipefail; dump=$(mktemp -p /var/tmp); trap 'rm -f "$dump"' EXIT; pg_dump shop | gzip > "$dump"; ${CURL} -T "$dump" -H 'Content-Encoding: gzip' -H @${header} ${url(collection)} | ${IS_STORED}
END
chmod 644 ${file}`;
}

export function Send({ collection }) {
  const [shown, setShown] = useState("curl");
  const text = SNIPPETS[shown](collection);
  return html`<${Enrol} key=${collection.id} collection=${collection} />
    <section class="card stack">
      <h2>${t.collection.tabs.send}</h2>
      <div class="seg" role="group" aria-label=${t.send.kinds}>
        ${Object.keys(SNIPPETS).map(
          (name) =>
            html`<button class="btn s" aria-pressed=${String(name === shown)} onClick=${() => setShown(name)}>
              ${t.send.names[name]}
            </button>`,
        )}
      </div>
      <pre tabindex="0">${text}</pre>
      <div class="row"><span class="sm dim grow">${t.send.hint}</span><${CopyButton} text=${text} /></div>
    </section>`;
}
