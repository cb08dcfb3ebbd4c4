// What the JSDoc comments of several modules name. The compiler reads this file; it is not served.

/** The answer of `GET /api/v1`. */
interface AboutService {
  version: string;
  features: string[];
  strategies: string[];
  compacts: boolean;
  read_only: boolean;
  trash_keep: string | null;
  limits: { versions: number; version_size: number; total_size: number };
  pages: { title: string; path: string }[];
  slots: ConsoleSlot[];
  may: string[];
  token: {
    name: string | null;
    fingerprint: string;
    roles: string[];
    restrictions: Restrictions;
    expires_at: string | null;
  };
}

/** What a plug-in shows in a place of the console. `module` is a path below the service. */
interface ConsoleSlot {
  place: string;
  name: string;
  title: string;
  module: string;
  package: string;
  applies_to: string[];
}

/** What a slot asks before it does something. */
interface Question {
  title: string;
  text: string;
  action: string;
  run: () => Promise<unknown>;
}

interface Restrictions {
  tags: string[];
  mime_types: string[];
  max_file_size: number;
  user_agents: string[];
  ip_addresses: string[];
}

/** Why a request or a module failed, as `ErrorNote` shows it. */
interface Failure {
  status: number;
  title?: string;
  message: string;
  isTemporary: boolean;
  action?: string;
  retry?: () => void;
}

/** What `useResource` returns. `data` is the parsed JSON, null until it is read. */
interface Resource {
  data: any;
  error: Failure | null;
  hasMoreFailed: boolean;
  isSlow: boolean;
  at: Date | null;
  reload: () => Promise<boolean> | void;
  retry: () => Promise<boolean | void> | void;
}

interface RequestOptions {
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A line of `Curve`. */
interface CurveLine {
  values: (number | null)[];
  name?: string;
  colour?: string;
  dash?: number[];
  isFilled?: boolean;
  isPoint?: boolean;
  isBand?: boolean;
}

/** A shown part of the URL's fragment. */
interface Route {
  parts: string[];
  query: URLSearchParams;
}

/** How a file is sent in parts: for which token, as its fingerprint says, and as what. */
interface InParts {
  token: string;
  metadata: Record<string, string>;
}

/** What arrives of a download: a file on disk, or the memory of the page. */
interface Target {
  write(bytes: Uint8Array): Promise<void> | void;
  close(): Promise<void> | void;
  abort(): Promise<void> | void;
}

interface Window {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<{ createWritable(): Promise<Target> }>;
}

/** Swagger UI, which another script of the page of the API defines. */
declare const SwaggerUIBundle: {
  (options: Record<string, unknown>): unknown;
  presets: { apis: unknown };
};
