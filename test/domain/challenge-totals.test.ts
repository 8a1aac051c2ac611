import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256 } from '#adapters/sha256.ts';
import { TRADE_FIELDS } from '#contract/registry/challenge-trade.ts';
import type { StoredAssignment, StoredTrade } from '#contract/registry/stored-challenge.ts';
import type { CodedError } from '#contract/values/errors.ts';
import { applyTrade, readTrade } from '#domain/challenges/apply-trade.ts';
import { begin, newStage } from '#domain/challenges/challenge-state.ts';
import { storedChallenge } from '../support/stored-challenge.ts';

// Quarters add and multiply without rounding.
const profit_pct = fc.integer({ min: -40, max: 40 }).map((quarters) => quarters / 4);
const key = fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: undefined });
const trade_id = fc.nat(11).map((n) => `t-${n}`);
const variant = fc.constantFrom('champion' as const, 'challenger' as const);
const post = fc.oneof(
  fc.record({
    trade_id,
    variant,
    profit_pct,
    assignment_key: key,
    status: fc.constantFrom('open', 'closed'),
  }),
  fc.record({ trade_id, variant, assignment_key: key, status: fc.constantFrom('open', 'error') }),
);

/** Totals computed from all trades, without increments. */
function recounted(trades: readonly StoredTrade[]) {
  const of = (status: string) => trades.filter((trade) => trade.status === status);
  const marked = of('open').filter((trade) => trade.profit_pct !== null);
  const sumOf = (list: readonly StoredTrade[], power: number) => [
    list.reduce((sum, trade) => sum + trade.profit_pct! ** power, 0),
    0,
  ];
  const clustersOf = (list: readonly StoredTrade[]) => {
    const groups = Map.groupBy(list, (trade) => trade.assignment_key ?? trade);
    const total = (value: (n: number, sum: number) => number) =>
      [...groups.values()].reduce((all, group) => all + value(group.length, sumOf(group, 1)[0]!), 0);
    return {
      count: groups.size,
      squares: [total((_, sum) => sum * sum), 0],
      products: [total((n, sum) => n * sum), 0],
      sizes: total((n) => n * n),
    };
  };
  const closed = of('closed');
  return {
    open: of('open').length,
    closed: closed.length,
    errors: of('error').length,
    sum: sumOf(closed, 1),
    sum_of_squares: sumOf(closed, 2),
    clusters: clustersOf(closed),
    marked:
      marked.length === 0
        ? null
        : {
            count: marked.length,
            sum: sumOf(marked, 1),
            sum_of_squares: sumOf(marked, 2),
            clusters: clustersOf([...closed, ...marked]),
          },
  };
}

it('incremental totals equal the totals computed from the current trades', () => {
  fc.assert(
    fc.property(fc.array(post, { maxLength: 60 }), (posts) => {
      const at = '2026-05-01T00:00:00.000Z';
      const stages = [newStage('stage_4', at)];
      let progress = begin(storedChallenge({ analysis_unit: 'assignment_key', stages }));
      const trades = new Map<string, StoredTrade>();
      const assignments = new Map<string, StoredAssignment>();
      for (const body of posts) {
        const posted = readTrade(body, TRADE_FIELDS, sha256);
        const trade = trades.get(posted.tradeId);
        const of = (trade ?? posted.details).assignment_key;
        try {
          const known = { trade, assignment: of === null ? undefined : assignments.get(of) };
          const applied = applyTrade(progress, posted, known, { at, digest: sha256 });
          progress = applied.progress;
          trades.set(posted.tradeId, applied.trade);
          if (applied.assignment) assignments.set(applied.assignment.assignment_key, applied.assignment);
        } catch (error) {
          expect((error as CodedError).code).toBe('RES005');
        }
      }
      const counted = [...trades.values()].filter((trade) => !trade.misassigned);
      const [stage] = progress.challenge.stages;
      for (const variant of ['champion', 'challenger'] as const) {
        const expected = recounted(counted.filter((trade) => trade.variant === variant));
        const { assigned, ...kept } = stage![variant];
        expect({ ...kept, clusters: kept.clusters ?? recounted([]).clusters }).toEqual(expected);
        expect(assigned).toBe([...assignments.values()].filter((given) => given.variant === variant).length);
      }
      const closed = counted.filter(({ status, assignment_key }) => status === 'closed' && assignment_key);
      const keys = Map.groupBy(closed, (trade) => trade.assignment_key!);
      const several = [...keys.values()].filter((group) => group.length > 1).length;
      expect(progress.challenge.keys_with_several_trades).toBe(several);
    }),
    { numRuns: 400, seed: 3 },
  );
});
