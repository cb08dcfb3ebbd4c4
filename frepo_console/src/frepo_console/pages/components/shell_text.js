// What commands for a shell have in common.

/** The file with the header of the token, on servers that send backups with curl. */
export const TOKEN_FILE = "/etc/frepo/token.header";

/** A text as one word of a shell. */
export const quoted = (text) => (/^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
