import { randomUUID } from 'node:crypto';
import { sha256 } from '#adapters/sha256.ts';
import { signalsKey } from '#adapters/signals/keys.ts';
import { StoredSignalFiles } from '#adapters/signals/stored-signal-files.ts';
import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { SIGNALS_CONTENT_TYPES, SIGNALS_LIMITS } from '#contract/values/signals-limits.ts';
import type { Clock, ObjectStore } from '#domain/ports.ts';
import type { SignalFiles } from '#domain/signals/signals-ports.ts';
import type { ServiceApp } from '#runtime/service.ts';

/** Duration of an address, ms: as in AWS. */
const LIFETIME_MS = 900_000;
const PREFIX = '/uploads/';
/** Open addresses of an owner: each is a few hundred bytes. The oldest end first. */
const MAX_OFFERS = 1_000;
/** Bytes of the files that are received at the same time; two of the largest. Further uploads wait, unread. */
const MAX_RECEIVED = 2 * SIGNALS_LIMITS.bytes.max;

interface Offer {
  readonly signals: StoredSignals;
  readonly expiresAt: number;
  /** The file was deleted: what is received for it is not kept. */
  isGone?: true;
}

/**
 * Uploads of local mode. An address has a random ID, which is its permission, and expires. It accepts the bytes of its record and
 * no other. A restart ends all addresses.
 */
export class LocalSignalUploads extends StoredSignalFiles implements SignalFiles {
  readonly #offers = new Map<string, Offer>();
  readonly #clock: Clock;
  readonly #maxReceived: number;
  #received = 0;
  /** Owners of the files that are being received, one of each: who sends slowly delays only themselves. */
  readonly #sending = new Set<string>();
  #waiting: (() => void)[] = [];

  /** @param maxReceived bytes of files that are in memory at the same time */
  constructor(objects: ObjectStore, clock: Clock, maxReceived = MAX_RECEIVED) {
    super(objects);
    this.#clock = clock;
    this.#maxReceived = maxReceived;
  }

  async offer(signals: StoredSignals) {
    const now = this.#clock.now();
    for (const [id, { expiresAt }] of this.#offers) if (expiresAt <= now) this.#offers.delete(id);
    const own = [...this.#offers].filter(([, each]) => each.signals.owner === signals.owner);
    if (own.length >= MAX_OFFERS) this.#offers.delete(own[0]![0]);
    const id = randomUUID();
    const expiresAt = now + LIFETIME_MS;
    this.#offers.set(id, { signals, expiresAt });
    return {
      url: `${PREFIX}${id}`,
      headers: { 'content-type': SIGNALS_CONTENT_TYPES[signals.format] },
      expires_at: new Date(expiresAt).toISOString(),
    };
  }

  /** Ends the addresses of the file too: an object without a record would be in no list, and stay. */
  override async remove(signalsId: string): Promise<void> {
    for (const [id, offer] of this.#offers) {
      if (offer.signals.signals_id !== signalsId) continue;
      offer.isGone = true;
      this.#offers.delete(id);
    }
    await super.remove(signalsId);
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
        return this.#inTurn(offer.signals, () => this.#receive(request, offer));
      },
    };
  }

  /**
   * Runs `receive` when so many bytes may be in memory, and no other file of the owner is. The server limits how long a request waits and
   * is received.
   */
  async #inTurn<T>({ bytes, owner }: StoredSignals, receive: () => Promise<T>): Promise<T> {
    const isFull = () => this.#received > 0 && this.#received + bytes > this.#maxReceived;
    while (isFull() || this.#sending.has(owner)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#received += bytes;
    this.#sending.add(owner);
    try {
      return await receive();
    } finally {
      this.#received -= bytes;
      this.#sending.delete(owner);
      for (const next of this.#waiting.splice(0)) next();
    }
  }

  async #receive(request: Request, offer: Offer): Promise<Response> {
    const { signals_id, bytes, sha256: wanted, format } = offer.signals;
    const body = await readExactly(request, bytes);
    if (!body) return rejected(`The file must have ${bytes} bytes, as in the request for its upload`);
    const found = sha256(body);
    if (found !== wanted)
      return rejected(`The file has SHA-256 ${found}, not ${wanted} as in the request for its upload`);
    await this.objects.put(signalsKey(signals_id), body, SIGNALS_CONTENT_TYPES[format]);
    if (offer.isGone) {
      await super.remove(signals_id);
      return rejected('The file was deleted while it was sent');
    }
    return new Response(null, { status: 200 });
  }
}

/** The body; undefined unless it has so many bytes. No more are read. */
async function readExactly(request: Request, bytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers.get('content-length') ?? bytes) !== bytes) {
    await request.body?.cancel();
    return undefined;
  }
  const body = Buffer.allocUnsafeSlow(bytes);
  let length = 0;
  for await (const part of request.body ?? []) {
    if (length + part.length > bytes) return undefined;
    body.set(part, length);
    length += part.length;
  }
  return length === bytes ? body : undefined;
}

function rejected(message: string): Response {
  return new Response(`${message}\n`, {
    status: 400,
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  });
}
