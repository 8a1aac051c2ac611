import { expect, it } from 'vitest';
import type { TradeResult } from '#contract/registry/stored-challenge.ts';
import { newStage } from '#domain/challenges/challenge-state.ts';
import { stageProfits } from '#domain/challenges/variant-totals.ts';
import { storedChallenge } from '../support/stored-challenge.ts';

const AT = '2026-05-01T00:00:00.000Z';
const stages = [newStage('stage_1', AT), newStage('stage_2', AT)];
const trade = (trade_id: string, profit_pct: number, more: Partial<TradeResult> = {}): TradeResult => ({
  trade_id,
  profit_pct,
  variant: 'champion',
  canary_stage: 'stage_1',
  status: 'closed',
  assignment_key: null,
  misassigned: false,
  unassigned: false,
  late: false,
  ...more,
});
const TRADES = [
  trade('a', 1),
  trade('b', 2, { canary_stage: 'stage_2' }),
  trade('c', 4, { variant: 'challenger', canary_stage: 'stage_2', assignment_key: 'k' }),
  trade('d', 8, { assignment_key: 'k' }),
  trade('e', 16, { assignment_key: 'k' }),
  trade('f', 32, { status: 'open' }),
  trade('g', 64, { misassigned: true }),
  trade('h', 128, { late: true }),
  trade('i', 256, { unassigned: true }),
];

// The permutation test shuffles labels within a stage, over trades that count.
it('stageProfits returns profits of valid closed trades by entry stage and variant', () => {
  expect(stageProfits(storedChallenge({ stages }), TRADES)).toEqual([
    { a: [1, 8, 16], b: [] },
    { a: [2], b: [4] },
  ]);
});

it('stageProfits sums trades per key when the analysis unit is assignment_key', () => {
  const cluster = (size: number, sum: number) => ({ size, sum: [sum, 0] });
  expect(stageProfits(storedChallenge({ stages, analysis_unit: 'assignment_key' }), TRADES)).toEqual([
    { a: [cluster(1, 1), cluster(2, 24)], b: [] },
    { a: [cluster(1, 2)], b: [cluster(1, 4)] },
  ]);
});
