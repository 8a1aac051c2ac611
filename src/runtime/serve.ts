import { randomUUID } from 'node:crypto';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { CodedError, type ErrorCode } from '#contract/errors.ts';
import { CORRELATION_HEADER } from '#contract/names.ts';
import { SECURITY_HEADERS } from '#contract/security-headers.ts';
import { Connections } from './connection-limits.ts';
import { errorResponse } from './error-response.ts';
import type { Log } from './log.ts';
import { isLoopbackRequest } from './loopback.ts';
import { MAX_HEADERS_LENGTH, MAX_URL_LENGTH } from './request-limits.ts';
import type { ServiceApp } from './service.ts';

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, ends idle connections and streams, waits for requests under way. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly port: number;
  readonly hostname: string;
  /**
   * Refuse what a web site in a browser of this machine could send: callers without a token are trusted here. Default
   * false.
   */
  readonly loopbackOnly?: boolean;
  /** Milliseconds in which a request's headers must have come. Default 10 s. */
  readonly headersTimeoutMs?: number;
  /** Milliseconds in which a whole request must have come. Default 30 s; the deadline of its answer begins then. */
  readonly requestTimeoutMs?: number;
  /**
   * Milliseconds after which a connection on which nothing moves is ended: who reads nothing of an answer would hold it for
   * ever. Default 60 s.
   */
  readonly stalledTimeoutMs?: number;
  readonly log: Log;
}

/**
 * Serves an application over HTTP/1.1. Requests that are not even HTTP, too large, or too slow get the documented error
 * body and header too.
 * Rejects when the port is taken, with a text that says so. Port 0 takes a free one.
 */
export async function serve(app: Pick<ServiceApp, 'fetch'>, options: ServeOptions): Promise<RunningServer> {
  const { port, hostname, log } = options;
  const answer = (code: ErrorCode) => {
    const { status, head, body } = refusal(code, log);
    return new Response(body, { status, headers: head });
  };
  const closing = new AbortController();
  const { stalledTimeoutMs = 60_000 } = options;
  const connections = new Connections(stalledTimeoutMs);
  const listener = connections.limitPipelines(
    getRequestListener(
      (request, env) =>
        options.loopbackOnly && !isLoopbackRequest(request.headers)
          ? answer('HTTP403')
          : app.fetch(request, { ...env, closing: closing.signal } as never),
      { overrideGlobalObjects: false, errorHandler: () => answer('HTTP400') },
    ),
  );
  const server = createServer(settings(options), listener);
  server.timeout = stalledTimeoutMs;
  connections.attach(server);
  // Beyond a number of headers Node drops the rest without a word; their length bounds them.
  server.maxHeadersCount = 0;
  // What Node would answer by itself, without our body and header, is answered here: no Host, Expect, CONNECT.
  server.on('checkExpectation', listener);
  server.on('connect', (_, socket) => answerBroken({}, socket, log));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerBroken(error, socket, log));
  await listen(server, port, hostname);
  const bound = (server.address() as AddressInfo).port;
  const stop = () => {
    closing.abort();
    return close(server, connections);
  };
  return { port: bound, url: `http://${hostname}:${bound}`, close: stop };
}

function settings({ headersTimeoutMs = 10_000, requestTimeoutMs = 30_000 }: ServeOptions) {
  return {
    requireHostHeader: false,
    maxHeaderSize: MAX_URL_LENGTH + MAX_HEADERS_LENGTH,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, requestTimeoutMs) / 2,
  };
}

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is in use: stop what listens there or set another port`, { cause: error })
          : error,
      ),
    );
    server.listen(port, hostname, resolve);
  });
}

function close(server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    // Those that answer now are idle later, and would be kept for another request.
    const idle = setInterval(() => connections.closeIdle(), 50);
    server.close(() => {
      clearInterval(idle);
      resolve();
    });
    connections.closeIdle();
  });
}

/** What Node's parser refuses: broken syntax 400, oversized headers 431, requests that never end 408. */
function answerBroken(error: { readonly code?: string }, socket: Duplex, log: Log): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, head, body } = refusal(PARSER_ERRORS[error.code ?? ''] ?? 'HTTP400', log);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(head).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

const PARSER_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HTTP431',
  ERR_HTTP_REQUEST_TIMEOUT: 'HTTP408',
};

function refusal(code: ErrorCode, log: Log): { status: number; head: Record<string, string>; body: string } {
  const { status, body, headers } = errorResponse(new CodedError(code), log);
  const head = {
    ...headers,
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json',
    [CORRELATION_HEADER]: randomUUID(),
  };
  return { status, head, body: JSON.stringify(body) };
}
