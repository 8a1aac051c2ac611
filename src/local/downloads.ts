import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { SECURITY_HEADERS } from '#contract/values/security-headers.ts';
import type { Downloads, ExportFile } from '#domain/backtests/export-backtest.ts';
import type { Clock } from '#domain/ports.ts';
import type { ServiceApp } from '#runtime/service.ts';

/** Duration of an address, ms: enough to open it. */
const LIFETIME_MS = 5 * 60_000;
const PREFIX = '/downloads/';

interface Offer {
  readonly jobId: string;
  readonly file: ExportFile;
  readonly expiresAt: number;
}

/**
 * Downloads of local mode. An address has a random ID and expires, because a browser sends no token when it opens one. The file is
 * made when it is opened, so nothing is stored. A restart ends all addresses.
 */
export class LocalDownloads implements Downloads {
  readonly #offers = new Map<string, Offer>();
  readonly #clock: Clock;
  readonly #exists: (jobId: string) => Promise<boolean>;

  /** @param exists false for a backtest that was deleted: its addresses end with it */
  constructor(clock: Clock, exists: (jobId: string) => Promise<boolean>) {
    this.#clock = clock;
    this.#exists = exists;
  }

  async offer(jobId: string, file: ExportFile) {
    const now = this.#clock.now();
    for (const [id, { expiresAt }] of this.#offers) if (expiresAt <= now) this.#offers.delete(id);
    const id = randomUUID();
    const expiresAt = now + LIFETIME_MS;
    this.#offers.set(id, { jobId, file, expiresAt });
    return { url: `${PREFIX}${id}`, expires_at: new Date(expiresAt).toISOString() };
  }

  /** The application with the offered files in front of it. Unknown and expired addresses reach the application: 404. */
  infront(app: Pick<ServiceApp, 'fetch'>): Pick<ServiceApp, 'fetch'> {
    return { fetch: async (request, env) => (await this.#respond(request)) ?? app.fetch(request, env) };
  }

  async #respond({ method, url }: Request): Promise<Response | undefined> {
    const { pathname } = new URL(url);
    if (method !== 'GET' || !pathname.startsWith(PREFIX)) return undefined;
    const offer = this.#offers.get(pathname.slice(PREFIX.length));
    if (!offer || offer.expiresAt <= this.#clock.now() || !(await this.#exists(offer.jobId)))
      return undefined;
    const { name, contentType, chunks } = offer.file;
    return new Response(Readable.toWeb(Readable.from(bytesOf(chunks()))) as ReadableStream, {
      headers: {
        ...SECURITY_HEADERS,
        'Cache-Control': 'no-store',
        'Content-Type': contentType,
        'Content-Disposition': `attachment; filename="${name}"`,
      },
    });
  }
}

async function* bytesOf(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
