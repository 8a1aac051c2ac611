import { connect, type Socket } from 'node:net';
import { expect, vi } from 'vitest';
import { CORRELATION_HEADER } from '#contract/values/names.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { serviceLambda } from '#runtime/lambda.ts';
import { type RunningServer, type ServeOptions, serve } from '#runtime/serve.ts';
import type { ServiceDeps } from '#runtime/service.ts';
import { memoryAudit } from '../support/audit.ts';
import {
  backendApp,
  fakeHandlers,
  fakeOwnership,
  type HandlerChanges,
  memoryLog,
} from '../support/backend.ts';
import { gatewayEvent, LAMBDA_CONTEXT } from '../support/gateway.ts';

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  readonly text: string;
}

interface Call {
  readonly method?: string;
  /** Path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Host = (call: Call) => Promise<Reply>;

/** Backend with fake handlers behind API Gateway. */
export function lambdaHost(changes: HandlerChanges = {}): Host {
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true');
  const handler = serviceLambda('backend', fakeHandlers(changes), {
    authenticate: withoutIdentityProvider({ enforced: false }),
    audit: memoryAudit().audit,
    ownership: fakeOwnership,
    environment: 'test',
    logLevel: 'ERROR',
    log: memoryLog().log,
    checkResponses: true,
  });
  return async ({ method = 'GET', path, headers = {}, body }) => {
    const { pathname, searchParams } = new URL(`https://x${path}`);
    const query = Object.fromEntries(
      [...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]),
    );
    const event = gatewayEvent({ httpMethod: method, path: pathname, headers, body: body ?? null });
    const result = await handler({ ...event, multiValueQueryStringParameters: query }, LAMBDA_CONTEXT);
    const received = Object.entries({ ...result.multiValueHeaders, ...result.headers });
    return {
      status: result.statusCode,
      headers: new Headers(received.map(([name, value]) => [name, String(value)])),
      text: result.body,
    };
  };
}

/** Backend with fake handlers on Node's server; `raw` sends bytes unchanged. */
export async function serverHost(
  changes: HandlerChanges = {},
  options: Partial<ServeOptions> = {},
  deps: Partial<ServiceDeps> = {},
): Promise<{
  call: Host;
  raw: (sent: string | ((socket: Socket) => void)) => Promise<Reply>;
  server: RunningServer;
}> {
  const server = await serve(backendApp(changes, deps).app, {
    port: 0,
    hostname: '127.0.0.1',
    log: memoryLog().log,
    ...options,
  });
  return {
    server,
    call: async ({ path, ...init }) => {
      const response = await fetch(`${server.url}${path}`, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    raw: (sent) => exchange(server.port, sent),
  };
}

/** Sends bytes unchanged and reads until the server closes. */
export function exchange(port: number, sent: string | ((socket: Socket) => void)): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
    // The server may close after its response while bytes are still being sent.
    socket.on('error', (error) => (answer === '' ? reject(error) : undefined));
    socket.on('close', () => resolve(replyOf(answer)));
    if (typeof sent === 'string') socket.write(sent);
    else sent(socket);
  });
}

function replyOf(answer: string): Reply {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = lines.map((each): [string, string] => {
    const end = each.indexOf(':');
    return [each.slice(0, end), each.slice(end + 1).trim()];
  });
  return { status: Number(line.split(' ')[1]), headers: new Headers(headers), text: rest.join('\r\n\r\n') };
}

/** Expects status, code and correlation header of a rejection. */
export function expectRefusal({ status, headers, text }: Reply, wanted: number, code: string): void {
  expect([status, codeOf(text)]).toEqual([wanted, code]);
  expect(headers.get(CORRELATION_HEADER)).toMatch(/^[\w.:-]+$/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

function codeOf(text: string): string {
  const { detail } = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  return Array.isArray(detail) ? detail[0].type : detail.code;
}
