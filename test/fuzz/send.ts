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
  /** Whether the connection had answered another request before. */
  readonly idle: boolean;
}

/** Longer than the deadline of a request in the services, after which they answer 504. */
const TIMEOUT_MS = 35_000;

/** Sends requests as they are written: `fetch` would mend paths and refuse methods. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true });

  /** Rejects when no answer comes. */
  send(request: FuzzRequest): Promise<Received> {
    return this.#once(request).catch((error: SendError) => {
      // The server may end an idle connection in the moment in which it is used again.
      if (error.idle && error.code === 'ECONNRESET') return this.#once(request);
      throw error;
    });
  }

  #once({ base, method, path, headers, body }: FuzzRequest): Promise<Received> {
    const { hostname, port } = new URL(base);
    return new Promise((resolve, reject) => {
      const sent = httpRequest({
        ...{ hostname, port, method, path, agent: this.#agent, timeout: TIMEOUT_MS },
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
        // It goes on as long as what it tells of: its beginning says enough, and then it is left.
        response.once('data', () => {
          received();
          sent.destroy();
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
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
 * The command that sends the request again, to a service at `base`. A body that no shell takes is written to a file.
 * `authorization` stands for the header of that name.
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
