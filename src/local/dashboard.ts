import { FILE_PAGE_NAME } from '#contract/backtests/report-file.ts';
import { CodedError } from '#contract/values/errors.ts';
import { NO_PAGES } from '#contract/values/page-paths.ts';
import { SECURITY_HEADERS } from '#contract/values/security-headers.ts';
import type { WebConfig } from '#contract/values/web-config.ts';
import type { ServiceApp } from '#runtime/service.ts';
import type { StaticFiles } from '#runtime/static-files.ts';

/** Built dashboard, or the reason why there is none. */
export type DashboardState =
  | { readonly status: 'building' }
  | { readonly status: 'failed'; readonly reason: string }
  | { readonly status: 'ready'; readonly files: StaticFiles };

/** The page of a report that is one file, which is built with the dashboard. Throws HTTP503 without it. */
export function reportPageOf(state: DashboardState | undefined): string {
  const page = state?.status === 'ready' ? state.files.text(`/${FILE_PAGE_NAME}`) : undefined;
  if (page !== undefined) return page;
  throw new CodedError('HTTP503', { message: `${NO_REPORT_PAGE}: ${whyNotReady(state)}` });
}

const NO_REPORT_PAGE = 'A report as one page needs the built dashboard';

function whyNotReady(state: DashboardState | undefined): string {
  if (state?.status === 'building') return 'it is being built, try again in a few seconds';
  if (state?.status === 'failed')
    return `correct why it could not be built, and start again. ${state.reason}`;
  return 'this platform runs without it, start one with npm start';
}

const ENTRY = '/index.html';
/** Interval after which a browser asks again for a dashboard that is being built, seconds. */
const REFRESH_SECONDS = 1;

type App = Pick<ServiceApp, 'fetch'>;

/**
 * The application with the dashboard in front of it: its configuration, its files, and its entry page for every path that a
 * browser opens. All other requests reach the application.
 *
 * @param state absent: no pages
 */
export function withDashboard(app: App, config: WebConfig, state?: () => DashboardState): App {
  return {
    fetch: async (request, env) => {
      const own = isRead(request) ? await respond(request, config, state?.()) : undefined;
      return own ?? app.fetch(request, env);
    },
  };
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

async function respond(
  request: Request,
  config: WebConfig,
  dashboard: DashboardState | undefined,
): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (pathname === '/config.json') {
    return sent(request, JSON.stringify(config), 'application/json', { 'Cache-Control': 'no-cache' });
  }
  if (!dashboard) return undefined;
  const isPage = pathname === '/' || pathname === ENTRY || isPagePath(request, pathname);
  if (dashboard.status !== 'ready') return isPage ? notReady(request, dashboard) : undefined;
  return (
    (await dashboard.files.respond(request, pathname)) ??
    (isPage ? dashboard.files.respond(request, ENTRY) : undefined)
  );
}

/** True for a path that a browser opens. Names in it may contain a dot, so the accepted type decides. */
function isPagePath({ headers }: Request, pathname: string): boolean {
  const accepted = headers.get('Accept') ?? '';
  return /\btext\/html\b/i.test(accepted) && !NO_PAGES.includes(pathname.split('/', 2)[1]!);
}

/** As of every response, and the empty icon, without which a browser asks for one. */
const NOT_READY_POLICY =
  "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Page without script and style: it asks again until the dashboard is built. */
function notReady(request: Request, dashboard: Exclude<DashboardState, { status: 'ready' }>): Response {
  const failed = dashboard.status === 'failed';
  const title = failed ? 'The dashboard could not be built' : 'The dashboard is being built';
  const text = failed
    ? `<pre>${escaped(dashboard.reason)}</pre>
<p>Correct the cause and start the platform again.`
    : '<p>This page opens it as soon as it is ready.';
  const refresh = failed ? '' : `<meta http-equiv="refresh" content="${REFRESH_SECONDS}">\n`;
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
${refresh}<link rel="icon" href="data:,">
<title>${title}</title>
<h1>${title}</h1>
${text} The services work meanwhile: <a href="/docs">API reference</a>.</p>
</html>
`;
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': NOT_READY_POLICY,
    ...(!failed && { 'Retry-After': String(REFRESH_SECONDS) }),
  };
  return sent(request, page, 'text/html; charset=utf-8', headers, 503);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function sent(
  { method }: Request,
  body: string,
  type: string,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  return new Response(method === 'HEAD' ? null : body, {
    status,
    headers: {
      ...SECURITY_HEADERS,
      ...headers,
      'Content-Type': type,
      'Content-Length': String(Buffer.byteLength(body)),
    },
  });
}
