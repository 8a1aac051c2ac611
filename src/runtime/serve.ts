import { randomUUID } from 'node:crypto';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { CodedError } from '#contract/errors.ts';
import { CORRELATION_HEADER } from '#contract/names.ts';
import { errorResponse } from './error-response.ts';
import type { Log } from './log.ts';
import type { ServiceApp } from './service.ts';

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, ends idle connections, waits for requests under way. */
  close(): Promise<void>;
}

/**
 * Serves an application over HTTP/1.1. Requests that are not even HTTP get the documented error body and header too.
 * Rejects when the port is taken, with a text that says so. Port 0 takes a free one.
 */
export async function serve(
  app: Pick<ServiceApp, 'fetch'>,
  options: { readonly port: number; readonly hostname: string; readonly log: Log },
): Promise<RunningServer> {
  const { port, hostname, log } = options;
  const listener = getRequestListener((request, env) => app.fetch(request, env as never), {
    overrideGlobalObjects: false,
    errorHandler: () => {
      const { head, body } = malformedRequest(400, log);
      return new Response(body, { status: 400, headers: head });
    },
  });
  // What Node would answer by itself, without our body and header, is answered here: no Host, Expect, CONNECT.
  const server = createServer({ requireHostHeader: false }, listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_, socket) => answerBroken({}, socket, log));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerBroken(error, socket, log));
  await listen(server, port, hostname);
  const bound = (server.address() as AddressInfo).port;
  return { port: bound, url: `http://${hostname}:${bound}`, close: () => close(server) };
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

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** What Node's parser refuses: broken syntax 400, oversized headers 431, headers that never end 408. */
function answerBroken(error: { readonly code?: string }, socket: Duplex, log: Log): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = PARSER_STATUS[error.code ?? ''] ?? 400;
  const { head, body } = malformedRequest(status, log);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(head).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

const PARSER_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function malformedRequest(status: number, log: Log): { head: Record<string, string>; body: string } {
  const error = new CodedError('HTTP400', { status });
  const { body, headers } = errorResponse(error, log);
  const head = { ...headers, 'Content-Type': 'application/json', [CORRELATION_HEADER]: randomUUID() };
  return { head, body: JSON.stringify(body) };
}
