import { openRegistry } from '#adapters/dynamo/open-registry.ts';
import type { Stores } from '#adapters/open-stores.ts';
import { sha256 } from '#adapters/sha256.ts';
import { HttpsSender } from '#adapters/webhooks/https-sender.ts';
import { webhookSignatures } from '#adapters/webhooks/signatures.ts';
import type { PlatformEvent } from '#contract/platform/events.ts';
import type { Digest } from '#contract/values/digest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { addDeliveries } from '#domain/webhooks/deliveries.ts';
import { runLane } from '#domain/webhooks/run-lane.ts';
import type { DeliveryDeps, WebhookWaker } from '#domain/webhooks/webhook-ports.ts';
import type { Log } from '#runtime/log.ts';
import { VERSION } from '#runtime/version.ts';
import { LOCAL_TABLES } from './platform-info.ts';

/** The data folder is locked against another platform, so the one worker takes the lanes of a killed one. */
const WORKER = 'local';
/** Webhooks that deliver at the same time. */
const MAX_LANES = 16;
/** Pause after the database failed. */
const RETRY_MS = 5_000;
/** Longest delay of a timer. */
const MAX_DELAY_MS = DAY_MS;

/** Parts of webhooks on the local platform. */
export function openWebhooks(
  stores: Pick<Stores, 'jobs' | 'webhooks' | 'deliveries'>,
  allowLoopback: boolean,
  { DYNAMODB_ENDPOINT }: { readonly DYNAMODB_ENDPOINT: string },
  log: Log,
) {
  const sender = new HttpsSender({ userAgent: `touchstone/${VERSION}`, allowLoopback });
  const signatures = webhookSignatures;
  const { jobs, webhooks, deliveries } = stores;
  const waker = new LocalWebhooks({
    webhooks,
    deliveries,
    sender,
    signatures,
    log,
    ownership: ownershipOf({ jobs, ...openRegistry(LOCAL_TABLES.registry, DYNAMODB_ENDPOINT) }),
    clock: Date,
    random: Math.random,
    digest: sha256,
  });
  return { sender, signatures, waker };
}

/** Deliveries of the local platform: each webhook has a lane, and lanes run concurrently. */
class LocalWebhooks implements WebhookWaker {
  readonly #deps: DeliveryDeps & { readonly digest: Digest };
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Running lanes; true: to be run again. */
  readonly #running = new Map<string, boolean>();
  /** Webhooks that wait for one of the lanes. */
  readonly #waiting = new Set<string>();
  readonly #turns = new Set<Promise<void>>();
  #stopped = false;

  constructor(deps: DeliveryDeps & { readonly digest: Digest }) {
    this.#deps = deps;
  }

  /** Continues deliveries that the last platform has not ended. */
  async resume(): Promise<void> {
    for (const { webhook_id } of await this.#deps.webhooks.list()) await this.wake(webhook_id);
  }

  /** Adds and starts the deliveries of events. When it throws, the same events must be passed again. */
  async deliver(events: readonly PlatformEvent[]): Promise<void> {
    for (const id of await addDeliveries(this.#deps, events)) await this.wake(id);
  }

  async wake(id: string): Promise<void> {
    if (this.#stopped) return;
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (this.#running.has(id)) {
      this.#running.set(id, true);
    } else if (this.#running.size >= MAX_LANES) {
      this.#waiting.add(id);
    } else {
      const turn = this.#turn(id).finally(() => this.#turns.delete(turn));
      this.#turns.add(turn);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#turns);
  }

  async #turn(id: string): Promise<void> {
    this.#running.set(id, false);
    const { next } = await runLane(this.#deps, id, WORKER).catch((error: Error) => {
      this.#deps.log.warn('failed to deliver to a webhook, retrying', { webhook_id: id, error });
      return { next: this.#deps.clock.now() + RETRY_MS };
    });
    const again = this.#running.get(id)!;
    this.#running.delete(id);
    // Another webhook that waits has its turn first.
    const [first] = this.#waiting;
    if (first !== undefined) {
      this.#waiting.delete(first);
      await this.wake(first);
    }
    if (again) await this.wake(id);
    else if (next !== undefined) this.#wakeAt(id, next);
  }

  #wakeAt(id: string, at: number): void {
    if (this.#stopped) return;
    const delay = Math.min(Math.max(at - this.#deps.clock.now(), 0), MAX_DELAY_MS);
    clearTimeout(this.#timers.get(id));
    this.#timers.set(
      id,
      setTimeout(() => void this.wake(id), delay),
    );
  }
}
