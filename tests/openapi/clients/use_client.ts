// Uses the generated TypeScript client: `node use_client.js URL TOKEN`. Prints the results as JSON.
import { CollectionsApi, Configuration, FilesApi, ResponseError, VersionsApi } from "./client/index.js";

const CONTENT = "hello from a generated client\n";

async function refusedStatus(url: string): Promise<number> {
  try {
    await new FilesApi(new Configuration({ basePath: url })).listFiles();
  } catch (error) {
    if (error instanceof ResponseError) return ((await error.response.json()) as { error_code: number }).error_code;
    throw error;
  }
  return 0;
}

async function main(url: string, token: string): Promise<void> {
  const configuration = new Configuration({ basePath: url, accessToken: token });
  const files = new FilesApi(configuration);
  const versions = new VersionsApi(configuration);
  const file = new Blob([CONTENT]);
  const uploaded = await files.uploadFile({
    type: "file", file, fileName: "typescript.txt", tags: ["made"], _public: true,
  });
  const listed = await files.listFiles({ searchQuery: "typescript.txt" });
  const downloaded = await files.downloadFile({ name: uploaded.filename });
  const createCollection = { filename: "dump.sql", maxOneVersionSize: "4GB", maxBackupsCount: null };
  const { collection } = await new CollectionsApi(configuration).createCollection({ createCollection });
  const added = await versions.addBackup({ collection: collection.id, file });
  const fetched = await versions.fetchBackup({ collection: collection.id, version: "latest" });
  console.log(JSON.stringify({
    uploaded: uploaded.status,
    listed: listed.results.map((row) => row.filename),
    downloaded: await downloaded.text(),
    limit: collection.maxOneBackupVersionSize,
    version: added.version.version,
    fetched: await fetched.text(),
    refused: await refusedStatus(url),
    null: createCollection.maxBackupsCount,
  }));
}

await main(process.argv[2]!, process.argv[3]!);
