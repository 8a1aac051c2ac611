import { randomUUID } from 'node:crypto';
import { sha256 } from '#adapters/sha256.ts';
import { signalsKey } from '#adapters/signals/keys.ts';
import { StoredSignalFiles } from '#adapters/signals/stored-signal-files.ts';
import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { SIGNALS_CONTENT_TYPES } from '#contract/values/signals-limits.ts';
import type { Clock, ObjectStore } from '#domain/ports.ts';
import type { SignalFiles } from '#domain/signals/signals-ports.ts';
import type { ServiceApp } from '#runtime/service.ts';

/** Duration of an address, ms: as in AWS. */
const LIFETIME_MS = 900_000;
const PREFIX = '/uploads/';
/** Open addresses: each is a few hundred bytes. The oldest end first. */
const MAX_OFFERS = 1_000;

interface Offer {
  readonly signals: StoredSignals;
  readonly expiresAt: number;
}

/**
 * Uploads of local mode. An address has a random ID, which is its permission, and expires. It accepts the bytes of its record and
 * no other. A restart ends all addresses.
 */
export class LocalSignalUploads extends StoredSignalFiles implements SignalFiles {
  readonly #offers = new Map<string, Offer>();
  readonly #clock: Clock;

  constructor(objects: ObjectStore, clock: Clock) {
    super(objects);
    this.#clock = clock;
  }

  async offer(signals: StoredSignals) {
    const now = this.#clock.now();
    for (const [id, { expiresAt }] of this.#offers) {
      if (expiresAt <= now || this.#offers.size >= MAX_OFFERS) this.#offers.delete(id);
    }
    const id = randomUUID();
    const expiresAt = now + LIFETIME_MS;
    this.#offers.set(id, { signals, expiresAt });
    return {
      url: `${PREFIX}${id}`,
      headers: { 'content-type': SIGNALS_CONTENT_TYPES[signals.format] },
      expires_at: new Date(expiresAt).toISOString(),
    };
  }

  /** The application with the uploads in front of it. Unknown and expired addresses reach the application: 404. */
  infront(app: Pick<ServiceApp, 'fetch'>): Pick<ServiceApp, 'fetch'> {
    return {
      fetch: async (request, env) => {
        const { pathname } = new URL(request.url);
        const offer = pathname.startsWith(PREFIX)
          ? this.#offers.get(pathname.slice(PREFIX.length))
          : undefined;
        if (request.method !== 'PUT' || !offer || offer.expiresAt <= this.#clock.now()) {
          return app.fetch(request, env);
        }
        return this.#receive(request, offer.signals);
      },
    };
  }

  async #receive(
    request: Request,
    { signals_id, bytes, sha256: wanted, format }: StoredSignals,
  ): Promise<Response> {
    const body = await readUpTo(request, bytes);
    if (body?.length !== bytes)
      return rejected(`The file must have ${bytes} bytes, as in the request for its upload`);
    const found = sha256(body);
    if (found !== wanted)
      return rejected(`The file has SHA-256 ${found}, not ${wanted} as in the request for its upload`);
    await this.objects.put(signalsKey(signals_id), body, SIGNALS_CONTENT_TYPES[format]);
    return new Response(null, { status: 200 });
  }
}

/** The body; undefined beyond `max` bytes, of which no more are read. */
async function readUpTo(request: Request, max: number): Promise<Buffer | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > max) {
    await request.body?.cancel();
    return undefined;
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > max) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function rejected(message: string): Response {
  return new Response(`${message}\n`, {
    status: 400,
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  });
}
