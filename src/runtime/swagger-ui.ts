import { existsSync, openAsBlob } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openApiDocument } from '#contract/operations/openapi.ts';
import { CodedError } from '#contract/values/errors.ts';
import { SERVICES } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { VERSION } from './version.ts';

/** Swagger UI of a service. The service serves all files itself, so the page sends no request to another host. */

const SCRIPT = 'swagger-ui-bundle.js';
const STYLE = 'swagger-ui.css';
const START = 'start.js';

/**
 * Starts Swagger UI with the document next to the page. It is a separate file, so that the page needs no inline script.
 * `validatorUrl: null` disables requests to validator.swagger.io.
 */
const START_SCRIPT = `const document_url = new URL('../openapi.json', document.currentScript.src).href;
SwaggerUIBundle({
  url: document_url,
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Links are relative, because API Gateway adds a stage prefix to every path. */
function page(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/${STYLE}?v=${VERSION}">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/${SCRIPT}?v=${VERSION}"></script>
<script src="docs/${START}?v=${VERSION}"></script>
</body>
</html>
`;
}

interface TextResponse<Body = string> {
  readonly status: 200;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
}

type Asset = string | ReadableStream<Uint8Array>;

/** The three handlers of `documentationOperations`: page, asset, OpenAPI document. */
export function documentation(service: ServiceName) {
  const openApi = once(() => openApiDocument(service, VERSION) as { openapi: string });
  return {
    page: async (): Promise<TextResponse> => ({
      status: 200,
      body: page(SERVICES[service].title),
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': CONTENT_SECURITY_POLICY,
        'Referrer-Policy': 'no-referrer',
      },
    }),
    asset: async (request: { readonly params: { readonly asset: string } }): Promise<TextResponse<Asset>> => {
      const asset = ASSETS[request.params.asset];
      if (!asset) throw new CodedError('HTTP404', { context: { path: `/docs/${request.params.asset}` } });
      return {
        status: 200,
        body: await asset.read(),
        // Links in the page contain the version, so a new version has new addresses.
        headers: { 'Content-Type': asset.type, 'Cache-Control': 'public, max-age=31536000, immutable' },
      };
    },
    openApi: async () => ({ status: 200 as const, body: openApi() }),
  };
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

const ASSETS: Readonly<Record<string, { readonly type: string; readonly read: () => Promise<Asset> }>> =
  Object.assign(Object.create(null), {
    [SCRIPT]: { type: JAVASCRIPT, read: () => readAsset(SCRIPT) },
    [STYLE]: { type: 'text/css; charset=utf-8', read: () => readAsset(STYLE) },
    [START]: { type: JAVASCRIPT, read: async () => START_SCRIPT },
  });

/**
 * Streams the file from disk as fast as the client reads. Buffering would keep 1.8 MB in memory per unread response. A blob
 * opens its file only for reading, so a HEAD request, whose body is dropped, leaves no file open.
 */
async function readAsset(name: string): Promise<ReadableStream<Uint8Array>> {
  const file = await openAsBlob(join(assetFolder(), name));
  return file.stream() as ReadableStream<Uint8Array>;
}

/** Folder next to the bundle, else the folder of the package. */
function assetFolder(): string {
  const bundled = join(import.meta.dirname, 'swagger-ui');
  if (existsSync(bundled)) return bundled;
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
