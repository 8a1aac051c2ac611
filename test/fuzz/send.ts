import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FuzzRequest } from './request.ts';

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface SendError extends NodeJS.ErrnoException {
  /** True if an earlier request used the connection. */
  readonly idle: boolean;
}

/** Longer than the request deadline of the services, after which they return 504. */
const TIMEOUT_MS = 35_000;

/** Sends requests unchanged: `fetch` would normalize paths and reject methods. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true });

  /** Rejects without a response. */
  send(request: FuzzRequest): Promise<Received> {
    return this.#once(request).catch((error: SendError) => {
      // The server may close an idle connection at the moment of its reuse.
      if (error.idle && error.code === 'ECONNRESET') return this.#once(request);
      throw error;
    });
  }

  #once({ base, method, path, headers, body }: FuzzRequest): Promise<Received> {
    const { hostname, port } = new URL(base);
    return new Promise((resolve, reject) => {
      const sent = httpRequest({
        hostname,
        port,
        method,
        path,
        agent: this.#agent,
        timeout: TIMEOUT_MS,
        headers: { ...headers, ...(body ? { 'Content-Length': String(body.length) } : {}) },
      });
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        const received = () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
        response.on('end', received);
        if (!String(response.headers['content-type']).startsWith('text/event-stream')) return;
        // An event stream lasts as long as its job: the beginning suffices, then the connection is closed.
        response.once('data', () => {
          received();
          sent.destroy();
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`no response in ${TIMEOUT_MS} ms`)));
      sent.on('error', (error: NodeJS.ErrnoException) =>
        reject(Object.assign(error, { idle: sent.reusedSocket })),
      );
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Longest body that is written into a command, bytes. */
const INLINE_BYTES = 4000;
const BODIES = join(tmpdir(), 'touchstone-fuzz');

/**
 * Command that repeats the request to a service at `base`. A body that no shell accepts is written to a file.
 * `authorization` replaces the header of that name.
 */
export function curlCommand(request: FuzzRequest, base: string, authorization?: string): string {
  const { method, path, headers, body } = request;
  const shown = Object.entries(headers).flatMap(([name, value]) => {
    const values = name === 'Authorization' && authorization ? [] : [value].flat();
    return values.map((each) => `-H ${quote(each === '' ? `${name};` : `${name}: ${each}`)}`);
  });
  const absolute = /^https?:/.test(path);
  return [
    'curl -sS -i -g --path-as-is',
    method === 'HEAD' ? '--head' : `-X ${method}`,
    ...(absolute ? [`--request-target ${quote(path)} ${base}/`] : [quote(`${base}${path}`)]),
    ...shown,
    ...(authorization ? [`-H "Authorization: ${authorization}"`] : []),
    ...(body ? [`--data-binary ${bodyArgument(body)}`] : []),
  ].join(' ');
}

function bodyArgument(body: Buffer): string {
  const text = body.toString('utf8');
  if (
    body.length <= INLINE_BYTES &&
    Buffer.from(text).equals(body) &&
    !text.includes('\0') &&
    text[0] !== '@'
  ) {
    return quote(text);
  }
  mkdirSync(BODIES, { recursive: true });
  const file = join(BODIES, `body-${process.pid}-${Math.round(performance.now())}`);
  writeFileSync(file, body);
  return `@${file}`;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
