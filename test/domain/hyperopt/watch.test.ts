import { describe, expect, it } from 'vitest';
import type { Grant } from '#contract/common/sharing-schemas.ts';
import type { EndedTrial, StoredHyperoptJob, StoredTrial } from '#contract/hyperopt/hyperopt.ts';
import type { Caller } from '#domain/access/access.ts';
import {
  FinishedTrialReader,
  type HyperoptEvent,
  type WatchHyperoptDeps,
  watchHyperopt,
} from '#domain/hyperopt/watch-hyperopt.ts';
import { createRandom } from '#engine/random.ts';
import { samplerLag } from '#engine/search/trials.ts';
import { virtualTime } from '../../support/events.ts';
import { pendingHyperopt } from '../../support/hyperopt-workers.ts';

const never = new AbortController().signal;
const READER: Caller = { id: 'reader', groups: [], isAdmin: false };
const SHARED: Grant[] = [{ principal: 'user:reader', level: 'read' }];

/** Hyperopt job whose trials finish in a random order, with at most `samplerLag` running concurrently. */
class Ledger {
  readonly trials: StoredTrial[] = [];
  readonly order: number[] = [];
  readonly #random: () => number;
  readonly #total: number;
  reads = 0;

  constructor(total: number, seed: number) {
    this.#total = total;
    this.#random = createRandom(seed);
  }

  read = async (_: string, from: number, limit = Number.POSITIVE_INFINITY): Promise<StoredTrial[]> => {
    this.reads++;
    return this.trials.slice(from, from + limit);
  };

  /** Begins or ends one trial. Returns false when all have ended. */
  step(): boolean {
    const running = this.trials.filter(({ state }) => state === 'running');
    const first = running[0]?.number ?? this.trials.length;
    const mayBegin = this.trials.length < this.#total && this.trials.length - samplerLag(this.#total) < first;
    if (mayBegin && (running.length === 0 || this.#random() < 0.6)) {
      this.trials.push({ number: this.trials.length, state: 'running', params: {} } as StoredTrial);
      return true;
    }
    const ending = running[Math.floor(this.#random() * running.length)];
    if (!ending) return false;
    this.order.push(ending.number);
    this.trials[ending.number] = { ...ending, state: 'failed', sequence: this.order.length } as EndedTrial;
    return true;
  }
}

async function numbers(ended: FinishedTrialReader, upTo: number): Promise<number[]> {
  const found: number[] = [];
  for await (const trial of ended.upTo(upTo)) found.push(trial.number);
  return found;
}

describe('FinishedTrialReader', () => {
  // The last case has more running trials than one read returns.
  it.each([
    [1, 1],
    [9, 2],
    [40, 3],
    [300, 4],
    [2_500, 5],
  ])(
    'FinishedTrialReader returns every finished trial once, in order, among %i trials',
    async (total, seed) => {
      const job = pendingHyperopt('ho-1', { n_trials: total });
      const ledger = new Ledger(total, seed);
      const looks = createRandom(seed + 100);
      const from: { after: number; ended: FinishedTrialReader; found: number[] }[] = [];
      const look = async () => {
        for (const each of from) each.found.push(...(await numbers(each.ended, ledger.order.length)));
      };
      const begin = (after: number) =>
        from.push({ after, ended: new FinishedTrialReader(ledger, job, after), found: [] });
      begin(0);
      while (ledger.step()) {
        if (looks() < 8 / total) begin(Math.floor(looks() * (ledger.order.length + 1)));
        if (looks() < 0.1) await look();
      }
      await look();
      for (const { after, found } of from) expect(found).toEqual(ledger.order.slice(after));
    },
  );

  it('FinishedTrialReader resumes after any sequence number', async () => {
    const ledger = new Ledger(40, 6);
    while (ledger.step());
    for (let after = 0; after <= 40; after++) {
      const ended = new FinishedTrialReader(ledger, pendingHyperopt('ho-1'), after);
      expect(await numbers(ended, 40)).toEqual(ledger.order.slice(after));
    }
  });

  it('FinishedTrialReader reads only trials after its start, and only when one has finished', async () => {
    const ledger = new Ledger(400, 7);
    while (ledger.step());
    const ended = new FinishedTrialReader(ledger, pendingHyperopt('ho-1', { n_trials: 400 }), 390);
    await numbers(ended, 390);
    expect(ledger.reads).toBe(0);
    const starts: number[] = [];
    const read: Ledger['read'] = (job, from, limit) => {
      starts.push(from);
      return ledger.read(job, from, limit);
    };
    await numbers(new FinishedTrialReader({ read }, pendingHyperopt('ho-1', { n_trials: 400 }), 390), 400);
    expect(starts).toEqual([351]);
  });
});

/** Watches a hyperopt job that changes only through `change`, called with the number of reads. */
async function idle(change: (looks: number, job: StoredHyperoptJob) => StoredHyperoptJob = (_, job) => job) {
  const time = virtualTime();
  const running = { status: 'running', started_at: '', shared_with: SHARED };
  const job = { ...pendingHyperopt('ho-1'), ...running } as StoredHyperoptJob;
  let looks = 0;
  const errors: unknown[] = [];
  const deps: WatchHyperoptDeps = {
    ...time,
    hyperoptJobs: { get: async () => change(++looks, job) },
    ledger: new Ledger(40, 1),
    log: { warn: () => undefined, error: (_, { error }) => void errors.push(error) },
  };
  const seen: { at: number; event: HyperoptEvent }[] = [];
  const begun = time.clock.now();
  for await (const event of watchHyperopt(deps, { job, after: 0, caller: READER }, never)) {
    seen.push({ at: time.clock.now() - begun, event });
  }
  return { seen, looks, pauses: time.pauses, errors };
}

describe('watchHyperopt without changes', () => {
  it('watchHyperopt sends a heartbeat every 15 seconds and ends after 14 minutes', async () => {
    const { seen, looks, pauses } = await idle();
    expect(seen[0]).toMatchObject({ at: 0, event: { kind: 'snapshot', id: 0 } });
    const beats = seen.filter(({ event }) => event.kind === 'heartbeat').map(({ at }) => at);
    expect(beats).toEqual(Array.from({ length: 56 }, (_, i) => (i + 1) * 15_000));
    expect(seen.at(-1)!.event).toEqual({ kind: 'reconnect' });
    expect(seen.at(-1)!.at).toBeGreaterThanOrEqual(14 * 60_000);
    expect(seen.at(-1)!.at).toBeLessThan(14 * 60_000 + 3_000);
    expect(pauses.slice(0, 4)).toEqual([1_000, 1_500, 2_250, 3_000]);
    expect(Math.max(...pauses)).toBe(3_000);
    expect(looks).toBeLessThan(290);
    expect(looks).toBeGreaterThan(270);
  });

  it('watchHyperopt ends when storage fails and logs the reason without sending it', async () => {
    const { seen, errors } = await idle((looks, job) => {
      if (looks === 3) throw new Error('down');
      return job;
    });
    expect(seen.map(({ event }) => event.kind)).toEqual(['snapshot', 'reconnect']);
    expect(errors).toMatchObject([{ message: 'down' }]);
  });

  it('watchHyperopt ends without further events when access is revoked', async () => {
    const revoked = { status: 'completed', shared_with: [] };
    const { seen, looks, errors } = await idle((look, job) =>
      look < 3 ? job : ({ ...job, ...revoked } as StoredHyperoptJob),
    );
    expect(seen.map(({ event }) => event.kind)).toEqual(['snapshot', 'reconnect']);
    expect([looks, errors]).toEqual([3, []]);
  });

  it('watchHyperopt ends with the final status of the job', async () => {
    for (const status of ['completed', 'failed', 'cancelled']) {
      const { seen } = await idle((looks, job) =>
        looks < 3 ? job : ({ ...job, status } as StoredHyperoptJob),
      );
      expect(seen.map(({ event }) => event.kind)).toEqual(['snapshot', 'status']);
      expect(seen[1]!.event).toMatchObject({ id: 1, job: { status } });
    }
  });
});
