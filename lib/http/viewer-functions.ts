import { VIEWER_ADDRESS_HEADER } from '#contract/env/origin-token.ts';
import { ERRORS } from '#contract/values/errors.ts';
import { CORRELATION_HEADER } from '#contract/values/names.ts';
import { NO_PAGES } from '#contract/values/page-paths.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/values/security-headers.ts';

/**
 * Functions that CloudFront runs for each request of a viewer, before its cache, and for each response. Their source text is deployed,
 * so they use their parameters and nothing else of this file, and only what CloudFront's JavaScript runtime 2.0 knows: ECMAScript 5.1
 * with `const`, `let`, arrow functions and templates, without destructuring, shorthand properties, spread, `for … of`, `?.` and `??`.
 */

interface ViewerValue {
  value: string;
}

interface ViewerRequest {
  readonly method: string;
  uri: string;
  readonly headers: Record<string, ViewerValue>;
}

interface ViewerEvent {
  readonly context: { readonly requestId: string };
  readonly viewer: { readonly ip: string };
  readonly request: ViewerRequest;
}

interface ViewerResponse {
  readonly statusCode: number;
  readonly statusDescription: string;
  readonly headers: Record<string, ViewerValue>;
  readonly body: { readonly encoding: 'text'; readonly data: string };
}

interface PageRules {
  /** First path segments that are never a page. */
  readonly noPages: readonly string[];
  /** Those of them whose paths are files of the bucket. */
  readonly files: readonly string[];
  readonly notFound: ViewerResponse;
  readonly correlationHeader: string;
}

/**
 * Requests of files and pages. A path that a browser opens is the entry page, whatever the path: names in it may contain a dot. A
 * path of an API is 404 in the services' shape, because the bucket would return XML.
 */
function serveFiles(event: ViewerEvent, rules: PageRules): ViewerRequest | ViewerResponse {
  const request = event.request;
  const segment = request.uri.split('/')[1] as string;
  if (rules.noPages.indexOf(segment) < 0) {
    const accept = request.headers.accept;
    if (request.uri === '/' || (accept && /\btext\/html\b/i.test(accept.value))) request.uri = '/index.html';
    return request;
  }
  if (rules.files.indexOf(segment) >= 0) return request;
  const missing = rules.notFound;
  missing.headers[rules.correlationHeader] = {
    value: event.context.requestId.replace(/[^A-Za-z0-9._:-]/g, ''),
  };
  return missing;
}

/** Requests of a service: without its prefix, and with the viewer's address in place of any that the viewer claims. */
function callService(event: ViewerEvent, addressHeader: string): ViewerRequest {
  const request = event.request;
  request.uri = request.uri.replace(/^\/services\/[^/]+/, '');
  request.headers[addressHeader] = { value: event.viewer.ip };
  return request;
}

interface ResponseEvent extends ViewerEvent {
  readonly response: { readonly headers: Record<string, ViewerValue> };
}

/** Responses with a file: with the viewer's correlation ID, or that of CloudFront. */
function identifyResponse(event: ResponseEvent, header: string): ResponseEvent['response'] {
  const given = event.request.headers[header];
  let id = event.context.requestId.replace(/[^A-Za-z0-9._:-]/g, '');
  if (given && /^[A-Za-z0-9._:-]{1,128}$/.test(given.value)) id = given.value;
  event.response.headers[header] = { value: id };
  return event.response;
}

const detail = { code: 'HTTP404', message: ERRORS.HTTP404.message, field: '', context: {} };
const NOT_FOUND: ViewerResponse = {
  statusCode: 404,
  statusDescription: 'Not Found',
  headers: Object.fromEntries(
    Object.entries({
      ...SECURITY_HEADERS,
      ...TLS_HEADERS,
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
    }).map(([name, value]) => [name.toLowerCase(), { value }]),
  ),
  body: { encoding: 'text', data: JSON.stringify({ detail }) },
};

const RULES: PageRules = {
  noPages: NO_PAGES,
  files: ['assets', 'config.json'],
  notFound: NOT_FOUND,
  correlationHeader: CORRELATION_HEADER.toLowerCase(),
};

/** Code of a function of CloudFront, whose entry is named `handler`: it calls `run` with a constant. */
function codeOf<E, T>(run: (event: E, constant: T) => unknown, constant: T): string {
  return `${run}\nfunction handler(event) {\n  return ${run.name}(event, ${JSON.stringify(constant)});\n}\n`;
}

export const SERVE_FILES = codeOf(serveFiles, RULES);
export const CALL_SERVICE = codeOf(callService, VIEWER_ADDRESS_HEADER);
export const IDENTIFY_RESPONSE = codeOf(identifyResponse, CORRELATION_HEADER.toLowerCase());
