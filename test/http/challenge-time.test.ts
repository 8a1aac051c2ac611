import { describe, expect, it } from 'vitest';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import type { ChallengeStore } from '#domain/challenges/challenge-store.ts';
import {
  processDueChallenge,
  processDueChallenges,
  resumeTimers,
} from '#domain/challenges/process-due-challenges.ts';
import { challengeListener } from '#runtime/challenge-listener.ts';
import { memoryLog } from '../support/backend.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { type FixtureOptions, MODEL } from '../support/registry-fixture.ts';
import { withWrites } from '../support/wrapped-store.ts';

/** Log lines and timers of automatic challenge actions. */

const engine = fileEngine();

const DAY = 24 * HOUR;
const NO_CANARY = { enable_canary: false };

interface WatchedFixture extends ChallengeFixture {
  /** Log lines as `level message reason`, and counted metrics. */
  readonly logged: string[];
  readonly counted: string[];
  readonly timers: [id: string, time: string][];
  readonly lines: ReturnType<typeof memoryLog>['lines'];
  tick(): Promise<readonly string[]>;
}

async function watchedFixture(
  options: FixtureOptions & { readonly brokenTimer?: boolean } = {},
): Promise<WatchedFixture> {
  const { log, lines } = memoryLog();
  const counted: string[] = [];
  const timers: WatchedFixture['timers'] = [];
  const timer = {
    at: async (id: string, time: number) => {
      if (options.brokenTimer) throw new Error('Scheduler is away');
      timers.push([id, new Date(time).toISOString()]);
    },
  };
  const onChallengeChange = challengeListener({ log, timer, count: (metric) => counted.push(metric) });
  const fixture = await challengeFixture(engine, { ...options, onChallengeChange });
  return {
    ...fixture,
    counted,
    timers,
    lines,
    get logged() {
      return lines.map(({ level, message, fields }) => `${level} ${message} ${fields.reason ?? ''}`.trim());
    },
    tick: async () => (await processDueChallenges(fixture.deps, fail)).changed,
  };
}

function fail(_: string, error: unknown): never {
  throw error;
}

describe('challenge log', () => {
  it('expiry is logged once', async () => {
    const fixture = await watchedFixture();
    const { body } = await fixture.create();
    const id = body.challenge_id;
    expect(fixture.timers).toEqual([[id, body.ends_at]]);
    fixture.clock.forward(7 * DAY);
    expect((await fixture.read(id)).body.status).toBe('expired');
    await fixture.evaluate(id);
    await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=a`);
    expect(fixture.logged).toEqual(['info challenge ended']);
    expect(await processDueChallenge(fixture.deps, id)).toBe(false);
    expect(await fixture.tick()).toEqual([]);
    expect(fixture.logged).toEqual(['info challenge ended']);
    expect(fixture.lines[0]!.fields).toEqual({
      challenge_id: id,
      model_name: MODEL,
      status: 'expired',
      outcome: null,
      reason: null,
      canary_stage: 'stage_1',
      at: body.ends_at,
    });
    expect(fixture.counted).toEqual(['ChallengesEnded']);
    expect(fixture.timers).toHaveLength(1);
  });

  it('expiry stays logged once and stored when the clock is set back', async () => {
    const fixture = await watchedFixture();
    const { challenge_id: shown } = (await fixture.create()).body;
    fixture.clock.forward(7 * DAY);
    expect((await fixture.read(shown)).body.status).toBe('expired');
    fixture.clock.forward(-DAY);
    expect((await fixture.read(shown)).body).toMatchObject({ status: 'expired', traffic_split: [1, 0] });
    expect((await fixture.evaluate(shown)).status).toBe('expired');
    expect(fixture.logged).toEqual(['info challenge ended']);
  });

  it('rollback for harm is logged once for repeated posts', async () => {
    const fixture = await watchedFixture();
    const { challenge_id: id } = (await fixture.create(NO_CANARY)).body;
    await fixture.log(id, 'champion', generated(1, 40, 1));
    const last = await fixture.log(id, 'challenger', generated(2, 40, -2));
    expect(last.body.status).toBe('rolled_back');
    await fixture.log(id, 'challenger', [1], { opened_at: '2026-05-01T00:00:00.000Z' });
    expect(await fixture.tick()).toEqual([]);
    expect(fixture.logged).toEqual(['warn challenge rolled back harm']);
    expect(fixture.lines[0]!.fields).toMatchObject({ challenge_id: id, canary_stage: 'stage_4' });
    expect(fixture.counted).toEqual(['ChallengesRolledBack']);
  });

  it('hold is logged; its end is not', async () => {
    const fixture = await watchedFixture();
    const { challenge_id: id } = (await fixture.create()).body;
    fixture.clock.forward(DAY);
    expect((await fixture.read(id)).body.hold).toBeNull();
    expect([await fixture.tick(), await fixture.tick()]).toEqual([[id], []]);
    await fixture.post(id, 'assignments', { assignment_key: 'a' });
    expect((await fixture.read(id)).body.hold).toBeNull();
    expect(fixture.logged).toEqual(['warn challenge held no_traffic']);
    expect(fixture.counted).toEqual(['ChallengesHeld']);
  });

  it('verdict sets the promotion timer and is logged once; so is the lapse', async () => {
    const fixture = await watchedFixture();
    const { challenge_id: id, ends_at } = (await fixture.create(NO_CANARY)).body;
    await fixture.log(id, 'champion', generated(12345, 120, 0));
    fixture.clock.forward(HOUR);
    await fixture.log(id, 'challenger', generated(67890, 120, 0.6));
    const { body } = await fixture.read(id);
    expect(body).toMatchObject({ status: 'completed', outcome: 'challenger_wins' });
    const givenUp = new Date(Date.parse(body.ended_at) + 7 * DAY).toISOString();
    expect(fixture.timers).toEqual([
      [id, ends_at],
      [id, givenUp],
    ]);
    fixture.clock.forward(7 * DAY);
    await processDueChallenge(fixture.deps, id);
    expect(fixture.logged).toEqual([
      'info challenge ended challenger_wins',
      'info challenge ended promotion lapsed after 7 days',
    ]);
    expect(fixture.timers).toHaveLength(2);
  });

  it('automatic promotion is logged once, and so is its rejection', async () => {
    const auto = { ...NO_CANARY, auto_promote: true };
    for (const staged of [true, false]) {
      const fixture = await watchedFixture();
      if (!staged) await fixture.register();
      const challenger = staged ? {} : { challenger_version: '3' };
      const { challenge_id: id } = (await fixture.create({ ...auto, ...challenger })).body;
      await fixture.log(id, 'champion', generated(12345, 120, 0));
      fixture.clock.forward(HOUR);
      await fixture.log(id, 'challenger', generated(67890, 120, 0.6));
      const won = ['info challenge ended challenger_wins'];
      const rejected = [expect.stringMatching(/^warn challenge not promoted RES005: /)];
      expect(fixture.logged).toEqual(staged ? won : [...won, ...rejected]);
      // A promoted winner has no further deadline.
      expect(fixture.timers).toHaveLength(staged ? 1 : 2);
    }
  });

  it('action of a user is not logged', async () => {
    const fixture = await watchedFixture();
    const { challenge_id: id } = (await fixture.create()).body;
    await fixture.post(id, 'hold', { reason: 'wait' });
    await fixture.post(id, 'resume');
    await fixture.post(id, 'advance');
    await fixture.post(id, 'rollback', { reason: 'enough' });
    const { challenge_id: second } = (await fixture.create()).body;
    await fixture.promote('2');
    expect((await fixture.read(second)).body.outcome).toBe('promoted_manually');
    expect([fixture.logged, fixture.counted]).toEqual([[], []]);
  });

  it('automatic action is logged when a registry transition stores it', async () => {
    const fixture = await watchedFixture();
    const { challenge_id: id } = (await fixture.create()).body;
    fixture.clock.forward(7 * DAY);
    expect((await fixture.promote('2')).status).toBe(200);
    expect((await fixture.read(id)).body.status).toBe('expired');
    expect(fixture.logged).toEqual(['info challenge ended']);
  });

  it('action is logged only by the host whose transaction commits', async () => {
    const tables = await engine.freshTables();
    const one = await watchedFixture({ tables });
    const { challenge_id: id } = (await one.create()).body;
    const { log, lines } = memoryLog();
    const store = new DynamoChallengeStore(engine.client, tables.registry, challengeListener({ log }));
    one.clock.forward(DAY);
    const finds: Promise<boolean>[] = [];
    const writeConflict = withWrites(store, {
      find: async (...asked) => {
        const found = await store.find(...asked);
        if (finds.length === 0) finds.push(processDueChallenge(one.deps, id));
        await finds[0];
        return found;
      },
    });
    expect(await processDueChallenge({ ...one.deps, challenges: writeConflict }, id)).toBe(false);
    expect(await finds[0]).toBe(true);
    expect([one.logged, lines]).toEqual([['warn challenge held no_traffic'], []]);
  });
});

describe('challenge timer', () => {
  it('timer is not set again by a repeated request or a write that keeps the deadline', async () => {
    const fixture = await watchedFixture();
    const key = { 'Idempotency-Key': 'once' };
    const { body } = await fixture.create({}, key);
    expect((await fixture.create({}, key)).body).toEqual(body);
    await fixture.log(body.challenge_id, 'champion', [1, 2]);
    expect(fixture.timers).toHaveLength(1);
  });

  it('failed timer does not fail the call; repair runs apply the deadline', async () => {
    const fixture = await watchedFixture({ brokenTimer: true });
    const { status, body } = await fixture.create();
    expect(status).toBe(201);
    expect(fixture.lines).toEqual([
      {
        level: 'warn',
        message: 'challenge timer not set',
        fields: { challenge_ids: [body.challenge_id], error: new Error('Scheduler is away') },
      },
    ]);
    fixture.clock.forward(7 * DAY);
    expect(await fixture.tick()).toEqual([body.challenge_id]);
    const { challenge_id: won } = (await fixture.create(NO_CANARY)).body;
    await fixture.log(won, 'champion', generated(12345, 120, 0));
    await fixture.log(won, 'challenger', generated(67890, 120, 0.6));
    fixture.clock.forward(7 * DAY);
    expect(await fixture.tick()).toEqual([won]);
    expect((await fixture.deps.challenges.read(won))!.outcome).toBe('champion_kept');
  });

  it('host sets the timers of all unfinished challenges after a restart', async () => {
    const fixture = await watchedFixture();
    const { body } = await fixture.create();
    const set: [string, number][] = [];
    await resumeTimers(fixture.deps.challenges as ChallengeStore, {
      at: async (id, time) => void set.push([id, time]),
    });
    expect(set).toEqual([[body.challenge_id, Date.parse(body.ends_at)]]);
  });
});
