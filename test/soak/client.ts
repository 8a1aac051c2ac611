import { setTimeout as sleep } from 'node:timers/promises';

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly body: any;
}

/** A request without a response: the platform was unavailable for too long. */
class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

/** Longer than a start of the platform on a busy machine. */
const RESPONSE_LIMIT_MS = 120_000;
const RETRY_MS = 100;

/**
 * Calls services that may be killed at any time. Repeats a request with the same `Idempotency-Key` until the response
 * is not an outage.
 */
export class SoakClient {
  /** Errors other than outages. */
  readonly breaches: string[] = [];
  #keys = 0;
  readonly #run = Date.now().toString(36);

  /** @throws NoResponse after two minutes without a response. */
  async call(method: 'GET' | 'POST', url: string, content?: unknown): Promise<Reply> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (method === 'POST') headers['idempotency-key'] = `${this.#run}-${++this.#keys}`;
    const until = Date.now() + RESPONSE_LIMIT_MS;
    for (;;) {
      const reply = await this.#send(url, {
        method,
        headers,
        ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      });
      if (reply) return reply;
      if (Date.now() > until)
        throw new NoResponse(`${method} ${url}: no response in ${RESPONSE_LIMIT_MS / 1000} s`);
      await sleep(RETRY_MS);
    }
  }

  /** Undefined while the platform or a dependency is unavailable. */
  async #send(url: string, init: RequestInit): Promise<Reply | undefined> {
    let status: number;
    let text: string;
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
      status = response.status;
      text = await response.text();
    } catch {
      return undefined;
    }
    if (status === 503 || status === 504) return undefined;
    try {
      const body = JSON.parse(text);
      if (status >= 500) this.breaches.push(`${init.method} ${url}: ${status} ${text.slice(0, 300)}`);
      return { status, text, body };
    } catch {
      this.breaches.push(
        `${init.method} ${url}: ${status} with a body that is not JSON: ${text.slice(0, 100)}`,
      );
      return { status, text, body: undefined };
    }
  }
}
