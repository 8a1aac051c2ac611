import type { SoakClient } from './client.ts';

const TERMINAL = ['completed', 'failed', 'cancelled'];
/** Valid error codes of a job whose attempts were all killed. */
const KILLED_TOO_OFTEN = ['SVC001'];

/** Acknowledged jobs, with the first terminal response of each. */
export class Jobs {
  readonly #client: SoakClient;
  readonly #urls = new Map<string, string>();
  readonly #ended = new Map<string, string>();
  readonly breaches: string[] = [];
  readonly counts: Record<string, number> = {};

  constructor(client: SoakClient) {
    this.#client = client;
  }

  /** @param url URL of the job */
  add(url: string): void {
    if (this.#urls.has(url)) this.breaches.push(`${url} was acknowledged for two requests`);
    this.#urls.set(url, url);
  }

  get size(): number {
    return this.#urls.size;
  }

  /** URLs of jobs without a terminal response. */
  open(): string[] {
    return [...this.#urls.keys()].filter((url) => !this.#ended.has(url));
  }

  ended(): string[] {
    return [...this.#ended.keys()];
  }

  /** URLs of completed jobs. */
  completed(): string[] {
    return [...this.#ended].filter(([, text]) => JSON.parse(text).status === 'completed').map(([url]) => url);
  }

  /** Reads a job: it must exist, and a terminal response must never change. */
  async check(url: string): Promise<void> {
    const { status, text, body } = await this.#client.call('GET', url);
    if (status !== 200) {
      this.breaches.push(`${url} was acknowledged and is lost: ${status} ${text.slice(0, 200)}`);
      return;
    }
    const before = this.#ended.get(url);
    if (before !== undefined) {
      if (before !== text) this.breaches.push(`${url} changed after its end:\n  ${before}\n  ${text}`);
      return;
    }
    if (!TERMINAL.includes(body.status)) return;
    this.#ended.set(url, text);
    this.counts[body.status] = (this.counts[body.status] ?? 0) + 1;
    if (body.status === 'failed' && !KILLED_TOO_OFTEN.includes(body.error_code)) {
      this.breaches.push(`${url} failed though only processes were killed: ${body.error_code} ${body.error}`);
    }
  }
}
