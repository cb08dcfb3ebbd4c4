// Uses the TypeScript client that is generated for /api/v1: `node use_v1_client.js URL TOKEN`. Prints the results as JSON.
import { CollectionsApi, Configuration, FilesApi, ResponseError, VersionsApi } from "./client/index.js";

const CONTENT = "hello from a generated client\n";

async function refusedCode(url: string): Promise<number> {
  try {
    await new FilesApi(new Configuration({ basePath: url })).listFiles();
  } catch (error) {
    if (error instanceof ResponseError) return ((await error.response.json()) as { code: number }).code;
    throw error;
  }
  return 0;
}

async function main(url: string, token: string): Promise<void> {
  const configuration = new Configuration({ basePath: url, accessToken: token });
  const [collections, versions] = [new CollectionsApi(configuration), new VersionsApi(configuration)];
  const files = new FilesApi(configuration);
  const file = new Blob([CONTENT]);
  const newCollection = { name: "dump.sql", limits: { versions: 3 } };
  const { id: collection } = await collections.createCollection({ newCollection });
  const edited = await collections.editCollection({ collection, collectionPatch: { description: "edited" } });
  const version = await versions.addVersion({ collection, file });
  const listed = await versions.listVersions({ collection });
  const downloaded = await versions.downloadVersion({ collection, selector: "latest" });
  const text = await downloaded.text();
  await versions.deleteVersion({ collection, selector: "v1" });
  await collections.deleteCollection({ collection });
  const added = await files.addFile({ file, name: "typescript.txt" });
  await files.deleteFile({ name: added.name });
  console.log(JSON.stringify({
    description: edited.description,
    versions: edited.limits.versions,
    number: version.number,
    listed: listed.items.map((one) => one.number),
    downloaded: text,
    file: added.requestedName,
    refused: await refusedCode(url),
  }));
}

await main(process.argv[2]!, process.argv[3]!);
