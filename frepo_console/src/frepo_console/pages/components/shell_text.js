// What commands for a shell have in common.

/** The file with the header of the token, on servers that send backups with curl. */
export const TOKEN_FILE = "/etc/frepo/token.header";

/** Behind `curl -i`: prints the answer, and fails unless its status is 201. A redirect is no error for curl. */
export const IS_STORED = "awk '1; /^HTTP[^ ]* 201/ {ok = 1} END {exit !ok}'";

/** A text as one word of a shell. */
export const quoted = (text) => (/^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
