// The server of tus for Node.js by the authors of the protocol, with files in a folder:
// node tus_server.mjs FOLDER_OF_MODULES FOLDER PORT
const [modules, directory, port] = process.argv.slice(2);
const { Server } = await import(`${modules}/@tus/server/dist/index.js`);
const { FileStore } = await import(`${modules}/@tus/file-store/dist/index.js`);

new Server({ path: "/files", datastore: new FileStore({ directory }) }).listen({ host: "127.0.0.1", port });

// `bin/node` is a script that starts Node.js as a child, and is ended alone.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 500);
