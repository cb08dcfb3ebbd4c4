// Uploads a file with tus-js-client: `node tus_js_client.cjs URL TOKEN COLLECTION FILE SIZE_OF_PART`. 0: one request for all.
// Prints how often it has tried again.
const fs = require("node:fs");
const tus = require("tus-js-client");

const [url, token, collection, file, part] = process.argv.slice(2);
let retries = 0;

const upload = new tus.Upload(fs.createReadStream(file), {
  endpoint: `${url}/api/v1/uploads`,
  headers: { Authorization: `Bearer ${token}` },
  metadata: { collection },
  uploadSize: fs.statSync(file).size,
  chunkSize: Number(part) || Infinity,
  retryDelays: [200, 200, 1000, 1000, 3000, 3000],
  onShouldRetry: (error) => {
    const status = error.originalResponse ? error.originalResponse.getStatus() : 0;
    retries += 1;
    return status === 0 || status >= 500 || [409, 423].includes(status);
  },
  onError: (error) => {
    console.error(String(error));
    process.exit(1);
  },
  onSuccess: () => console.log(retries),
});
upload.start();
