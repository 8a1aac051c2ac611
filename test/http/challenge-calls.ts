import { expect } from 'vitest';
import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import type { TestEngine } from '../support/engine.ts';
import { MODEL } from '../support/registry-fixture.ts';

/** Every call in every state of a challenge, and what it changes. */

/** Makes the challenger win at the planned look. */
export async function win(fixture: ChallengeFixture, id: string) {
  await fixture.log(id, 'champion', generated(12345, 100, 0));
  await fixture.log(id, 'challenger', generated(67890, 100, 1));
}

const expireIt = async (fixture: ChallengeFixture) => fixture.clock.forward(200 * HOUR);

/** Brings a challenge into each state. */
export const STATES: Record<string, (fixture: ChallengeFixture, id: string) => Promise<unknown>> = {
  'active at stage_1': async () => undefined,
  'active at stage_4': async (fixture, id) => {
    for (let step = 0; step < 3; step++) await fixture.post(id, 'advance');
  },
  'held by hand': async (fixture, id) => fixture.post(id, 'hold', { reason: 'wait' }),
  'won by the challenger': async (fixture, id) => win(fixture, id),
  'won by the champion': async (fixture, id) => {
    await fixture.log(id, 'champion', generated(12345, 100, 0));
    await fixture.log(id, 'challenger', generated(67890, 100, -0.6));
  },
  promoted: async (fixture, id) => {
    await win(fixture, id);
    await fixture.post(id, 'promote');
  },
  lapsed: async (fixture, id) => {
    await win(fixture, id);
    await fixture.post(id, 'rollback');
  },
  'rolled back by hand': async (fixture, id) => fixture.post(id, 'rollback'),
  'rolled back for harm': async (fixture, id) => {
    await fixture.log(id, 'champion', generated(12345, 50, 0));
    await fixture.log(id, 'challenger', generated(67890, 50, -5));
  },
  expired: async (fixture) => expireIt(fixture),
};

type Call = 'advance' | 'hold' | 'resume' | 'promote' | 'rollback';
const rejected = 'RES005';
const same = {};
const done = {
  advance: rejected,
  hold: rejected,
  resume: rejected,
  promote: rejected,
  rollback: rejected,
} as const;

/** Every state times every call: RES005, or what changes. */
export const TABLE: Record<string, Record<Call, 'RES005' | Partial<StoredChallenge> | object>> = {
  'active at stage_1': {
    advance: { canary_stage: 'stage_2', traffic_split: [0.9, 0.1] },
    hold: { hold: { reason: 'manual', note: null } },
    resume: same,
    promote: rejected,
    rollback: { status: 'rolled_back', reason: 'manual', traffic_split: [1, 0] },
  },
  'active at stage_4': {
    advance: rejected,
    hold: { hold: { reason: 'manual', note: null } },
    resume: same,
    promote: rejected,
    rollback: { status: 'rolled_back', reason: 'manual', traffic_split: [1, 0] },
  },
  'held by hand': {
    advance: { canary_stage: 'stage_2', hold: null },
    hold: same,
    resume: { hold: null },
    promote: rejected,
    rollback: { status: 'rolled_back', reason: 'manual', hold: null },
  },
  'won by the challenger': {
    ...done,
    promote: { status: 'completed', outcome: 'challenger_wins', traffic_split: [0, 1] },
    rollback: { status: 'completed', outcome: 'champion_kept', traffic_split: [1, 0] },
  },
  'won by the champion': done,
  promoted: { ...done, promote: same },
  lapsed: { ...done, rollback: same },
  'rolled back by hand': { ...done, rollback: same },
  'rolled back for harm': done,
  expired: done,
};

type Case = readonly [Call, string, (typeof TABLE)[string][Call]];

/** True for a call that changes the challenge. */
export const hasEffect = ([, , expected]: Case) => expected !== rejected && expected !== same;

export const CASES = Object.keys(STATES).flatMap((state) =>
  (Object.keys(done) as Call[]).map((call) => [call, state, TABLE[state]![call]] as const),
);

/** States decided by trades: each variant receives half of the traffic. */
const BALANCED = [
  'won by the challenger',
  'won by the champion',
  'promoted',
  'lapsed',
  'rolled back for harm',
];

type Standing = readonly [
  status: string,
  outcome: string | null,
  reason: string | null,
  split: readonly [number, number],
];
const CALLED: Record<string, Standing> = {
  'active at stage_1': ['active', null, null, [0.95, 0.05]],
  'active at stage_4': ['active', null, null, [0.5, 0.5]],
  'held by hand': ['active', null, null, [0.95, 0.05]],
  'won by the challenger': ['completed', 'challenger_wins', null, [0.5, 0.5]],
  'won by the champion': ['completed', 'champion_wins', null, [1, 0]],
  promoted: ['completed', 'challenger_wins', null, [0, 1]],
  lapsed: ['completed', 'champion_kept', null, [1, 0]],
  'rolled back by hand': ['rolled_back', null, 'manual', [1, 0]],
  'rolled back for harm': ['rolled_back', null, 'harm', [1, 0]],
  expired: ['expired', null, null, [1, 0]],
};

/** Actions of the event that records each call. */
const EVENT_ACTIONS: Record<Call, readonly string[]> = {
  advance: ['advance'],
  hold: ['hold'],
  resume: ['resume'],
  promote: ['promote'],
  rollback: ['roll_back', 'keep_champion'],
};

/** Checks one row of CASES after another on fixtures that rows share. */
export function challengeCalls(engine: () => TestEngine) {
  let fixture: ChallengeFixture | undefined;

  /** Fixture with the champion in Production and without an active challenge. */
  async function ready(): Promise<ChallengeFixture> {
    const model = fixture && (await fixture.store.read(MODEL, [])).model;
    if (!fixture || model?.production_version !== '1') fixture = await challengeFixture(engine());
    else if (model.active_challenge_id) await fixture.post(model.active_challenge_id, 'rollback');
    return fixture;
  }

  return async ([call, state, expected]: Case): Promise<void> => {
    const fixture = await ready();
    const { body } = await fixture.create({ enable_canary: !BALANCED.includes(state) });
    const id = body.challenge_id;
    await STATES[state]!(fixture, id);
    const before = (await fixture.read(id)).body;
    const { status, outcome, reason, traffic_split } = before;
    expect([status, outcome, reason, traffic_split]).toEqual(CALLED[state]);
    const eventsOf = async () => (await fixture.read(id, '/events')).body.items;
    const earlier = await eventsOf();
    const response = await fixture.post(id, call);
    const after = (await fixture.read(id)).body;
    const [news, ...rest] = await eventsOf();
    if (expected === 'RES005' || expected === same) expect([news, ...rest]).toEqual(earlier);
    else {
      expect(rest).toEqual(earlier);
      expect(EVENT_ACTIONS[call]).toContain(news.action);
      expect([news.actor, news.status, news.outcome]).toEqual(['anonymous', after.status, after.outcome]);
    }
    if (expected === 'RES005') {
      expect([response.status, response.body.detail.code]).toEqual([409, 'RES005']);
      expect(after).toEqual(before);
      return;
    }
    expect(response.status).toBe(200);
    expect(response.body).toEqual(after);
    expect(after).toMatchObject({ ...(expected === same ? before : {}), ...expected });
    const again = await fixture.post(id, call, call === 'advance' ? { canary_stage: 'stage_2' } : {});
    expect([again.status, again.body]).toEqual([200, after]);
  };
}
