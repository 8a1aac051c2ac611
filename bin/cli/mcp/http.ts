import { createHash } from 'node:crypto';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import type { Me } from '#contract/platform/me.ts';
import { SESSION_HEADER, SESSION_NAME } from '#contract/values/names.ts';
import { createLogger } from '#runtime/log.ts';
import { type RunningServer, serve } from '#runtime/serve.ts';
import type { ServiceApp } from '#runtime/service.ts';
import { ApiError } from '../client.ts';
import type { Caller } from './call.ts';
import { createServer, type Toolbox } from './server.ts';
import type { Target } from './target.ts';

/** A message is small: a request of a tool has at most a page of text. */
const MAX_BODY_BYTES = 1_048_576;
/** A wait of 300 s may end with the first byte of its response. */
const STALLED_TIMEOUT_MS = 330_000;
const PATH = '/mcp';

interface HttpOptions {
  readonly port: number;
  readonly toolbox: Toolbox;
  /** Name of this process in sessions. */
  readonly session: string;
  readonly target: Target;
}

/** What a request brings to the server that is made for it. */
interface Extra {
  readonly caller: Caller;
  /** Aborted when the process stops: a wait may last minutes. */
  readonly closing: AbortSignal;
}

/**
 * Serves Streamable HTTP on loopback. The server has no token and no state of its own: each request brings its token, which the
 * platform verifies. Requests that a web site in a local browser could send are rejected.
 */
export function serveHttp({ port, toolbox, session, target }: HttpOptions): Promise<RunningServer> {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { caller, closing } = authInfo!.extra as unknown as Extra;
      return createServer(toolbox, caller, closing);
    },
    { maxRequestBodySize: MAX_BODY_BYTES },
  );
  const fetch: ServiceApp['fetch'] = async (request, env) => {
    const { closing } = env as Pick<Extra, 'closing'>;
    if (new URL(request.url).pathname !== PATH) return rejection(404, `This server has one path: ${PATH}.`);
    const token = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    const named = request.headers.get(SESSION_HEADER);
    if (named !== null && !SESSION_NAME.test(named)) {
      return rejection(
        400,
        `${SESSION_HEADER} is not 1 to 64 letters, digits, dots, underscores or hyphens.`,
      );
    }
    const identified = await identify(target.callerOf(token, session));
    if (identified instanceof Response) return identified;
    const caller = target.callerOf(token, named ?? `${session}-${shortDigest(identified.subject)}`);
    return handler.fetch(request, {
      authInfo: { token: token ?? '', clientId: identified.subject, scopes: [], extra: { caller, closing } },
    });
  };
  const log = createLogger('mcp', 'WARN');
  return serve(
    { fetch },
    { port, log, hostname: '127.0.0.1', loopbackOnly: true, stalledTimeoutMs: STALLED_TIMEOUT_MS },
  );
}

/** The user of a token; a response where the platform rejects it. */
async function identify(caller: Caller): Promise<z.infer<typeof Me> | Response> {
  try {
    return await (await caller.client('backend')).get<z.infer<typeof Me>>('/api/v1/me');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof ApiError)) {
      caller.forget();
      return rejection(502, message);
    }
    if (!message.startsWith('AUTH'))
      return rejection(502, `The platform cannot verify the caller: ${message}`);
    // The service's hint names the token of the command line.
    const reason = message.replace(/\. Set TOUCHSTONE_TOKEN .*/, '');
    return rejection(401, `${reason}. Send a token of the platform: Authorization: Bearer <token>.`);
  }
}

function rejection(status: number, message: string): Response {
  const body = { jsonrpc: '2.0', error: { code: -32_000, message }, id: null };
  return Response.json(body, {
    status,
    ...(status === 401 && { headers: { 'www-authenticate': 'Bearer' } }),
  });
}

const shortDigest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
