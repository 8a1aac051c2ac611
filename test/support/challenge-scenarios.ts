import { paginateScan } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { ulids } from '#adapters/ids.ts';
import type { StoredChallenge, VariantTotals } from '#contract/registry/stored-challenge.ts';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from './challenge-fixture.ts';
import type { TestEngine } from './engine.ts';
import { MODEL } from './registry-fixture.ts';
import { storedChallenge } from './stored-challenge.ts';

/** Random challenge scenarios that are repeatable in another fixture with the same IDs and times. */

export interface Trade {
  readonly trade_id: string;
  readonly [field: string]: unknown;
}

export type Step =
  | { readonly kind: 'trades'; readonly trades: readonly Trade[] }
  | { readonly kind: 'batch'; readonly seed: number; readonly shift: number }
  | { readonly kind: 'assign'; readonly key: string }
  | { readonly kind: 'call'; readonly action: string; readonly body: object }
  | { readonly kind: 'forward'; readonly hours: number }
  | { readonly kind: 'tick' }
  | { readonly kind: 'get'; readonly what: string };

/** Fixture whose challenge IDs count from 1: equal creation order gives equal IDs. */
export async function repeatableFixture(
  engine: TestEngine,
  options: NonNullable<Parameters<typeof challengeFixture>[1]> = {},
): Promise<ChallengeFixture> {
  // Earlier registry writes use random IDs, which must be unique in the engine.
  let next = Number.NaN;
  const ids = { ulid: () => (next > 0 ? `0${String(next++).padStart(25, '0')}` : ulids.ulid()) };
  const fixture = await challengeFixture(engine, { ...options, deps: { ids, ...options.deps } });
  next = 1;
  return fixture;
}

/** Every read of a challenge; none may change stored state. */
const READS = [
  '/evaluate',
  '',
  '/trades?limit=3',
  '/events?limit=2',
  `MODEL/route?key=k1`,
  'MODEL/challenges?limit=5',
  'MODEL/challenges?status=active',
] as const;

/** Executes a step. Returns true for a completely accepted write. */
export async function take(fixture: ChallengeFixture, id: string, step: Step): Promise<boolean> {
  const headers = { 'X-Correlation-ID': 'play' };
  const post = async (action: string, body: object) => {
    const response = await fixture.post(id, action, body, headers);
    const items: { accepted: boolean }[] = response.body.items ?? [];
    return response.status < 400 && items.every(({ accepted }) => accepted);
  };
  switch (step.kind) {
    case 'trades':
      return post('trades', step.trades.length === 1 ? step.trades[0]! : { trades: step.trades });
    case 'batch':
      return post('trades', { trades: batchOf(step.seed, step.shift) });
    case 'assign':
      return post('assignments', { assignment_key: step.key });
    case 'call':
      return post(step.action, step.body);
    case 'forward':
      fixture.clock.forward(step.hours * HOUR);
      return false;
    case 'tick':
      await processDueChallenges(fixture.deps, (_, error) => {
        throw error;
      });
      return true;
    default:
      if (step.what.startsWith('MODEL'))
        await fixture.strategy('GET', step.what.replace('MODEL', `/api/v1/models/${MODEL}`));
      else await fixture.read(id, step.what);
      return false;
  }
}

/** All stored items of challenges and the model, in key order. */
export async function stored(fixture: ChallengeFixture, client: TestEngine['client']): Promise<object[]> {
  const items: Record<string, any>[] = [];
  for await (const page of paginateScan({ client }, { TableName: fixture.table, ConsistentRead: true }))
    items.push(...(page.Items ?? []));
  return items
    .filter(({ pk, sk }) => pk.startsWith('CHALLENGE#') || (pk === `MODEL#${MODEL}` && sk === 'META'))
    .map(({ last_event_id: _, ...item }) => item)
    .sort((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1));
}

/** Totals of a variant with a number of closed trades, their mean and standard deviation. */
export function closedTotals(closed: number, mean: number, sd: number, assigned = 0): VariantTotals {
  const nothing = storedChallenge().stages[0]!.champion;
  const squares = (closed - 1) * sd ** 2 + closed * mean ** 2;
  return { ...nothing, assigned, closed, sum: [closed * mean, 0], sum_of_squares: [squares, 0] };
}

/** Stores an active challenge with the given totals per stage number. */
export async function storeChallenge(
  fixture: ChallengeFixture,
  challenge_id: string,
  stages: readonly (readonly [stage: 1 | 2 | 3 | 4, champion: VariantTotals, challenger: VariantTotals])[],
  changes: Partial<StoredChallenge> = {},
): Promise<void> {
  const now = fixture.clock.now();
  const at = new Date(now).toISOString();
  const after = storedChallenge({
    challenge_id,
    max_duration_hours: 48,
    created_at: at,
    updated_at: at,
    last_traffic_at: at,
    ends_at: new Date(now + 48 * HOUR).toISOString(),
    stages: stages.map(([stage, champion, challenger]) => ({
      ...storedChallenge().stages[0]!,
      canary_stage: `stage_${stage}` as const,
      since: at,
      champion,
      challenger,
    })),
    ...changes,
  });
  const { revision } = (await fixture.store.read(MODEL, [])).model!;
  const outcome = await fixture.deps.challenges.commit({
    before: null,
    after,
    events: [],
    modelRevision: revision,
  });
  if (outcome !== 'done') throw new Error(outcome);
}

/**
 * A challenge at 50 % for each variant, ten trades before its planned look. The challenger leads by 0.5, which is not
 * significant with 100 trades each and a standard deviation of 1.8.
 */
export function nearTheLook(fixture: ChallengeFixture, id: string): Promise<void> {
  return storeChallenge(fixture, id, [[4, closedTotals(90, 0.4, 1.8), closedTotals(90, 0.9, 1.8)]], {
    trades: 180,
  });
}

/** 24 trades of both variants; `shift` is the challenger's lead. Equal seeds give equal trades. */
export function batchOf(seed: number, shift: number): Trade[] {
  return generated(seed, 24, 0).map((value, n) => ({
    trade_id: `b-${seed}-${n}`,
    variant: n % 2 ? 'challenger' : 'champion',
    profit_pct: Math.round((n % 2 ? value + shift : value) * 100) / 100,
  }));
}

const ARM = fc.constantFrom('champion', 'challenger');
const SOME_ID = fc.nat(12).map((n) => `s-${n}`);
const profit = fc.integer({ min: -400, max: 500 }).map((hundredths) => hundredths / 100);

/** Single trades with few IDs: open, closed, repeated, with keys, and opened before or after the challenge. */
const trade: fc.Arbitrary<Trade> = fc
  .record(
    {
      trade_id: SOME_ID,
      variant: ARM,
      profit_pct: profit,
      status: fc.constantFrom('open', 'closed', 'closed'),
      assignment_key: fc.nat(9).map((n) => `k${n}`),
      opened_at: fc.nat(60).map((hours) => new Date(Date.UTC(2026, 5, 1, hours - 4)).toISOString()),
    },
    { requiredKeys: ['trade_id', 'variant', 'profit_pct'] },
  )
  .map((one) => ({ ...one }));

const call = fc
  .constantFrom(
    ['advance', { canary_stage: 'stage_2' }],
    ['advance', { canary_stage: 'stage_3' }],
    ['hold', { reason: 'look at it' }],
    ['resume', {}],
    ['rollback', {}],
  )
  .map(([action, body]) => ({ kind: 'call', action, body }) as Step);

export const write: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: trade.map((one) => ({ kind: 'trades', trades: [one] }) as Step) },
  {
    weight: 2,
    arbitrary: fc
      .uniqueArray(trade, { minLength: 2, maxLength: 5, selector: ({ trade_id }) => trade_id })
      .map((trades) => ({ kind: 'trades', trades }) as Step),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({ seed: fc.integer({ min: 1, max: 9999 }), shift: fc.constantFrom(-3, -1, 0, 0.5, 2, 4) })
      .map((of) => ({ kind: 'batch', ...of }) as Step),
  },
  { weight: 3, arbitrary: fc.nat(9).map((n) => ({ kind: 'assign', key: `k${n}` }) as Step) },
  { weight: 2, arbitrary: call },
  {
    weight: 3,
    arbitrary: fc.constantFrom(0.5, 2, 25, 49).map((hours) => ({ kind: 'forward', hours }) as Step),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'tick' }) },
);

export const read: fc.Arbitrary<Step> = fc
  .constantFrom(...READS)
  .map((what) => ({ kind: 'get', what }) as Step);
