import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { CHALLENGE_ID_PREFIX } from '#contract/values/challenge-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MLFLOW_PREFIX } from '#contract/values/mlflow-paths.ts';
import { CORRELATION_HEADER, CORRELATION_ID } from '#contract/values/names.ts';
import {
  changesState,
  type FunctionName,
  type Operation,
  pathsOf,
  type ServiceName,
} from '#contract/values/operation.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/values/security-headers.ts';
import type { Caller, Ownership } from '#domain/access/access.ts';
import { checkStopBy } from '#domain/shared/request-stop.ts';
import { type AuditDeps, type AuditedCall, audited, auditRejection } from './audit.ts';
import {
  ANONYMOUS,
  type Authenticate,
  authorize,
  authorizeFields,
  callerOf,
  checkOwnership,
  type Principal,
} from './authenticate.ts';
import type { HandlerRequest, Handlers, StreamHandlers } from './handler.ts';
import { type Log, runInContext } from './log.ts';
import { checkAnnouncedSize, checkHead, readBytes } from './request-json.ts';
import { BASE_HEADERS, errorResponse, type HandlerResult, successResponse } from './responses.ts';
import { type Route, routesOf } from './routes.ts';
import { type CursorKey, SignedCursors } from './signed-cursors.ts';
import { viewerAddress } from './viewer-address.ts';

export interface RequestOutcome {
  /** Undefined when no row matched. */
  readonly operation: Operation | undefined;
  readonly status: number;
  readonly durationMs: number;
}

/** A function as API Gateway calls it for a route. */
export type GatewayFunction = (request: {
  readonly body: string;
  readonly headers: Headers;
  readonly correlationId: string;
}) => Promise<Response>;

export interface ServiceDeps {
  readonly log: Log;
  readonly authenticate: Authenticate;
  /** Called with each caller before its operation. Never throws. */
  readonly onCaller?: (caller: Caller) => Promise<void>;
  /** Audit trail of calls that can change state; absent if the service has none. */
  readonly audit?: AuditDeps;
  /** Key of the cursors of lists; absent if the service has no list with pages. */
  readonly cursorKey?: CursorKey;
  /** Throws DATA005 while storage has no room for new work; absent if storage is unlimited. */
  readonly checkDiskSpace?: () => Promise<void>;
  /** Owners and grants of resources, by kind. */
  readonly ownership?: Partial<Ownership>;
  /** Creates correlation ids for requests without one. Default: random UUIDs. */
  readonly newId?: () => string;
  /** Deadline of a received request, ms. Default 27,000: the function's time limit is 28 s, the gateway's 29 s. */
  readonly deadlineMs?: number;
  /** Return 500 for a response that the contract does not describe. For development and tests. */
  readonly checkResponses?: boolean;
  /** Functions of operations with an integration, on hosts without API Gateway. */
  readonly functions?: Readonly<Partial<Record<FunctionName, GatewayFunction>>>;
  /** Called for every response, for metrics. */
  readonly observe?: (outcome: RequestOutcome) => void;
}

interface Bindings {
  /** Set by API Gateway. */
  readonly requestContext?: {
    readonly requestId?: string;
    readonly identity?: { readonly sourceIp?: string };
  };
  /** Set by Node's server: aborted when it stops. */
  readonly closing?: AbortSignal;
  /** Set by Node's server. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string; readonly destroyed?: boolean } };
}

interface Variables {
  correlationId: string;
  operation?: Operation;
  code?: string | null;
  /** Caller, once it is known. */
  principal?: string;
}

type ServiceEnv = { Bindings: Bindings; Variables: Variables };
export type ServiceApp = Hono<ServiceEnv>;
type ServiceContext = Context<ServiceEnv>;

/** A handler of any row: what it receives has been validated against that row. */
type AnyHandler = (
  request: Omit<HandlerRequest<unknown>, 'params' | 'query' | 'body'> &
    Readonly<Record<'params' | 'query' | 'body', unknown>>,
) => Promise<HandlerResult>;

const DEADLINE_MS = 27_000;

/** Loaded when needed, like request-schemas.ts: their schemas need zod. */
const conformance = () => import('./conformance.ts');

/**
 * The HTTP application of a service: its rows of the operations table with their handlers. It runs on every host. Every
 * response has the correlation id, and every error one of the two documented bodies.
 */
export function createService<S extends ServiceName>(
  service: S,
  handlers: Handlers<S>,
  deps: ServiceDeps,
): ServiceApp {
  const groups: Readonly<Record<string, object>> = handlers;
  return createApp(routesOf(service), ({ group, id }) => handlerIn(groups[group], id), deps);
}

/** The HTTP application of a service's streaming operations only, for a host that streams. */
export function createStreams<S extends ServiceName>(
  service: S,
  handlers: StreamHandlers<S>,
  deps: ServiceDeps,
): ServiceApp {
  return createApp(
    routesOf(service).filter(({ streams }) => streams),
    ({ id }) => handlerIn(handlers, id),
    deps,
  );
}

function handlerIn(handlers: object | undefined, id: string): AnyHandler {
  return (handlers as Readonly<Record<string, AnyHandler>>)[id]!;
}

function createApp(
  routes: readonly Route[],
  handlerOf: (route: Route) => AnyHandler,
  deps: ServiceDeps,
): ServiceApp {
  checkDeps(routes, deps);
  const app: ServiceApp = new Hono();
  app.use('*', (c, next) => track(c, next, deps));
  app.use('*', (c, next) => {
    checkHead(c.req.raw);
    return next();
  });
  for (const route of routes) {
    if (route.integration) {
      routeToFunction(app, route, deps, deps.functions?.[route.integration.function]);
      continue;
    }
    const handler = handlerOf(route);
    app.on(route.method, pathsOf(route).map(honoPath), async (c) => {
      const operation = await route.load();
      c.set('operation', operation);
      return execute(c, operation, handler, deps);
    });
  }
  for (const rows of Map.groupBy(routes, (route) => route.path).values()) {
    for (const path of pathsOf(rows[0]!)) app.all(honoPath(path), (c) => methodNotAllowed(c, rows, deps));
  }
  app.notFound((c) =>
    fail(c, new CodedError('HTTP404', { context: { path: c.req.path.slice(0, 200) } }), deps),
  );
  app.onError((error, c) => fail(c, error, deps));
  return app;
}

function checkDeps(routes: readonly Route[], { ownership, audit }: ServiceDeps): void {
  const unowned = routes.find(({ resource }) => resource && !ownership?.[resource.kind]);
  if (unowned) throw new Error(`${unowned.id} names owned resources: pass their ownership`);
  const unaudited = routes.find((route) => changesState(route) && !audit);
  if (unaudited) throw new Error(`${unaudited.id} changes state: pass an audit trail`);
}

function routeToFunction(
  app: ServiceApp,
  route: Route,
  deps: ServiceDeps,
  serveFunction: GatewayFunction | undefined,
): void {
  app.on(route.method, honoPath(route.path), async (c) => {
    const operation = await route.load();
    c.set('operation', operation);
    if (!serveFunction)
      throw new CodedError('SVC004', { message: 'This host does not serve the data proxy' });
    const { headers } = c.req.raw;
    checkAnnouncedSize(headers);
    await identify(c, operation, deps);
    const body = Buffer.from(await readBytes(c.req.raw)).toString('utf8');
    const response = await serveFunction({ body, headers, correlationId: c.var.correlationId });
    if (deps.checkResponses) await (await conformance()).checkFunctionResponse(operation, response);
    return response;
  });
}

/** Adds correlation id, log line and metrics to every request. */
export async function track(
  c: ServiceContext,
  next: () => Promise<void>,
  deps: Pick<ServiceDeps, 'log' | 'newId' | 'observe'>,
): Promise<void> {
  const started = performance.now();
  const correlationId = pickCorrelationId(c, deps.newId ?? randomUUID);
  c.set('correlationId', correlationId);
  await runInContext({ correlationId }, async () => {
    await next();
    c.res.headers.set(CORRELATION_HEADER, correlationId);
    addSecurityHeaders(c);
    const { operation, code, principal } = c.var;
    const outcome = { operation, status: c.res.status, durationMs: Math.round(performance.now() - started) };
    deps.log.info('request', {
      operation: operation?.id ?? 'none',
      method: c.req.method,
      path: c.req.path.slice(0, 200),
      status: outcome.status,
      ...(code === undefined ? {} : { code: code ?? 'body' }),
      ...(principal !== undefined && { principal }),
      duration_ms: outcome.durationMs,
    });
    deps.observe?.(outcome);
  });
}

function addSecurityHeaders({ res, env }: ServiceContext): void {
  const headers = env?.requestContext ? { ...SECURITY_HEADERS, ...TLS_HEADERS } : SECURITY_HEADERS;
  for (const [name, value] of Object.entries(headers))
    if (!res.headers.has(name)) res.headers.set(name, value);
}

/** The caller's id if it is well-formed, else the gateway's, else a new one. */
function pickCorrelationId(c: ServiceContext, newId: () => string): string {
  const candidates = [c.req.header(CORRELATION_HEADER), c.env?.requestContext?.requestId];
  return (
    candidates.find((id) => id !== undefined && CORRELATION_ID.test(id) && !isOfChallenge(id)) ?? newId()
  );
}

/** True for the ID of a challenge: in a history it says that the challenge itself promoted, so no caller may send it. */
function isOfChallenge(id: string): boolean {
  return id.startsWith(CHALLENGE_ID_PREFIX);
}

async function execute(
  c: ServiceContext,
  operation: Operation,
  handler: AnyHandler,
  deps: ServiceDeps,
): Promise<Response> {
  const withTimeout = sharedDeadline(deps.deadlineMs ?? DEADLINE_MS);
  const cursors = new SignedCursors(deps.cursorKey);
  const request = c.req.raw;
  checkAnnouncedSize(request.headers);
  const principal = await withTimeout(() => identify(c, operation, deps));
  const { checkQueryNames, readBody, readParams, readQuery } = await import('./request-schemas.ts');
  const { searchParams } = new URL(request.url);
  checkQueryNames(operation, searchParams);
  const params = readParams(operation.params, c.req.param() as Record<string, string>);
  const query = readQuery(operation.query, searchParams);
  // Outside the deadline: the server limits the time of receiving a request, with 408.
  const body = await readBody(operation, request);
  const result = await withTimeout((signal) =>
    audited(
      deps,
      { ...callOf(c, operation, principal, deps), request: { query, body }, signal },
      async () => {
        authorizeFields(principal, operation, body);
        await checkOwnership(operation, principal, params as Record<string, string>, deps.ownership);
        if (operation.startsWork) await deps.checkDiskSpace?.();
        const input = {
          params,
          query: await cursors.open(operation, query),
          body: await cursors.open(operation, body),
          headers: request.headers,
          principal,
          correlationId: c.var.correlationId,
          signal,
          closing: c.env?.closing,
        };
        // A call that changes something ends as if its client were there.
        const result = await (changesState(operation)
          ? handler(input)
          : reads.run({ signal, socket: c.env?.incoming?.socket }, () => handler(input)));
        return cursors.sign(operation, result);
      },
    ),
  );
  if (deps.checkResponses) (await conformance()).checkResponse(operation, result.status, result.body);
  return successResponse(operation, result, c.req.method);
}

/** The read in progress: its deadline, and its connection. A signal of the connection would make a whole request of each. */
const reads = new AsyncLocalStorage<{
  readonly signal: AbortSignal;
  readonly socket: { readonly destroyed?: boolean } | undefined;
}>();

/** The client has closed its connection: nobody reads the response. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

checkStopBy(
  () => {
    const read = reads.getStore();
    read?.signal.throwIfAborted();
    if (read?.socket?.destroyed) throw new ClientGone('The client has closed its connection');
  },
  (action) => reads.exit(action),
);

/** The caller; throws when the operation is not allowed. */
async function identify(c: ServiceContext, operation: Operation, deps: ServiceDeps): Promise<Principal> {
  if (operation.access === 'public') return ANONYMOUS;
  const principal = await deps.authenticate(c.req.header('Authorization') || null);
  c.set('principal', principal.id);
  if (!principal.isCanary) await deps.onCaller?.(callerOf(principal));
  try {
    authorize(principal, operation);
  } catch (error) {
    await auditRejection(deps, callOf(c, operation, principal, deps), error);
    throw error;
  }
  return principal;
}

/** The call for the audit trail, before its request is read. */
function callOf(
  c: ServiceContext,
  operation: Operation,
  principal: Principal,
  { audit }: ServiceDeps,
): AuditedCall {
  const { requestContext, incoming } = c.env ?? {};
  return {
    operation,
    principal,
    path: c.req.path,
    params: c.req.param() as Record<string, string>,
    request: null,
    correlationId: c.var.correlationId,
    sourceIp:
      viewerAddress(c.req.raw.headers, audit?.originTokens) ??
      requestContext?.identity?.sourceIp ??
      incoming?.socket?.remoteAddress,
    userAgent: c.req.header('User-Agent'),
  };
}

/** The error's response, checked against its row where the host checks responses. */
export async function fail(
  c: ServiceContext,
  error: unknown,
  deps: Pick<ServiceDeps, 'log' | 'checkResponses'>,
  more: Record<string, string> = {},
): Promise<Response> {
  // The status by which nginx logs it.
  if (error instanceof ClientGone) return new Response(null, { status: 499 });
  const failure = errorResponse(error, deps.log);
  const { operation } = c.var;
  if (deps.checkResponses) {
    const { ConformanceError, checkError } = await conformance();
    try {
      if (!(error instanceof ConformanceError)) checkError(operation, failure);
    } catch (breach) {
      return fail(c, breach, deps);
    }
  }
  c.set('code', failure.code);
  const body = c.req.path.startsWith(MLFLOW_PREFIX)
    ? (await import('./mlflow-errors.ts')).mlflowError(failure.status, failure.body)
    : failure.body;
  return new Response(JSON.stringify(body), {
    status: failure.status,
    headers: { ...BASE_HEADERS, 'Content-Type': 'application/json', ...failure.headers, ...more },
  });
}

function methodNotAllowed(c: ServiceContext, rows: readonly Route[], deps: ServiceDeps): Promise<Response> {
  const methods = rows.map((row) => row.method as string);
  // HEAD is supported wherever GET is.
  const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const error = new CodedError('HTTP405', { context: { method: c.req.method, allowed } });
  return fail(c, error, deps, { Allow: allowed.join(', ') });
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * Result of `work`. Throws SVC006 when it takes longer than `ms` and aborts the signal, so that `work` can stop.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new CodedError('SVC006');
      controller.abort(error);
      reject(error);
    }, ms);
  });
  try {
    return await Promise.race([work(controller.signal), expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** {@link withDeadline} for several pieces of work that share one limit; the time between them does not count. */
function sharedDeadline(ms: number): <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T> {
  let left = ms;
  return async (work) => {
    const begun = performance.now();
    try {
      return await withDeadline(left, work);
    } finally {
      left = Math.max(0, left - (performance.now() - begun));
    }
  };
}
