import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { Metrics } from '#contract/backtests/report-metrics.ts';
import type { ReportUniverse, UniverseFigures } from '#contract/backtests/report-universe.ts';
import type { Digest } from '#contract/values/digest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { measureRun } from '../metrics/metrics.ts';
import { marketChangePct } from '../run/prepare-pair.ts';
import { enterOnlyWithin } from '../run/universe-mask.ts';
import { simulate } from '../simulator/simulate.ts';
import { DELISTED, type TradeTable } from '../simulator/trade-table.ts';
import type { PairInput, SimulationSettings } from '../simulator/types.ts';
import type { DailyVolumes } from '../universe/daily-volumes.ts';
import type { Interval, Membership } from '../universe/membership.ts';
import { membershipOf, type UniversePlan } from '../universe/plan.ts';

interface ReportUniverseInput {
  readonly plan: UniversePlan;
  readonly config: ResolvedBacktestConfig;
  readonly settings: SimulationSettings;
  readonly metrics: Metrics;
  /** Trades of the run. */
  readonly table: TradeTable;
  /** Inputs of every pair that was read. */
  readonly inputs: readonly PairInput[];
  readonly digest: string;
}

/** The section `universe`. Yields after each simulation. */
export function* reportUniverse(input: ReportUniverseInput): Generator<void, ReportUniverse> {
  const { plan, metrics, table, digest } = input;
  const { candidates, leftOut, membership, rebalances, short } = plan;
  const own = figuresOf(metrics);
  const survivorship: ReportUniverse['survivorship'] = [];
  for (const [choice, other] of [
    ['survivors', plan.survivors],
    ['final_ranking', plan.finalRanking],
  ] as const) {
    const figures = isSame(other, membership) ? own : figuresOver(input, other);
    const added = figures && differenceOf(figures, own);
    survivorship.push({ choice, pairs: [...other.keys()], figures, added });
    yield;
  }
  return {
    candidates: candidates.length,
    rebalances,
    short_rebalances: short,
    delisted_trades: countDelisted(table),
    members: [...membership].map(([pair, intervals]) => ({
      pair,
      intervals: intervals.map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
      days_in: intervals.reduce((sum, { from, to }) => sum + (to - from) / DAY_MS, 0),
      ends: isoOrNull(plan.delistings.get(pair)?.at ?? null),
    })),
    ...(leftOut.length > 0 && { left_out: [...leftOut] }),
    survivorship,
    digest,
  };
}

function countDelisted({ exitReason: { texts, index } }: TradeTable): number {
  return index.filter((text) => texts[text] === DELISTED).length;
}

/** Figures of the run with another membership; null when none of its pairs can be traded. */
function figuresOver(
  { plan, config, settings, inputs }: ReportUniverseInput,
  members: Membership,
): UniverseFigures | null {
  const pairs = inputs.flatMap((input) => {
    const membership = membershipOf(plan, members, input.pair);
    return membership ? [enterOnlyWithin(input, membership, settings.timeframeMs)] : [];
  });
  if (pairs.length === 0) return null;
  const run = simulate(pairs, settings);
  const { metrics } = measureRun(
    config,
    pairs.map(({ candles }) => ({
      first: iso(candles.timestamp[0]!),
      last: iso(candles.timestamp.at(-1)!),
      market_change_pct: marketChangePct(candles),
    })),
    run,
  );
  return figuresOf(metrics);
}

function figuresOf({ account, equity, closed_trades }: Metrics): UniverseFigures {
  return {
    total_profit_pct: account.total_profit_pct,
    cagr_pct: account.cagr_pct,
    sharpe_ratio: equity.sharpe_ratio,
    max_drawdown_pct: equity.max_drawdown_pct,
    total_trades: closed_trades.total_trades,
  };
}

function differenceOf(a: UniverseFigures, b: UniverseFigures): UniverseFigures {
  const less = (name: 'total_profit_pct' | 'cagr_pct' | 'sharpe_ratio' | 'max_drawdown_pct') =>
    a[name] === null || b[name] === null ? null : a[name] - b[name];
  return {
    total_profit_pct: less('total_profit_pct'),
    cagr_pct: less('cagr_pct'),
    sharpe_ratio: less('sharpe_ratio'),
    max_drawdown_pct: less('max_drawdown_pct'),
    total_trades: a.total_trades - b.total_trades,
  };
}

function isSame(a: Membership, b: Membership): boolean {
  const text = (membership: Membership) =>
    JSON.stringify([...membership].map(([pair, intervals]) => [pair, intervals.map(ends)]));
  return text(a) === text(b);
}

const ends = ({ from, to }: Interval) => [from, to];

/** Digest of everything that decides the choice. */
export function digestVolumes(candidates: readonly DailyVolumes[], digest: Digest): string {
  return digest(
    candidates
      .map(({ pair, first, start, value, candles }) =>
        // A shortest decimal per value: equal text, equal number.
        digest([pair, first, start, value.join(' '), candles.join(' ')].join('\n')),
      )
      .join('\n'),
  );
}

const iso = (time: number) => new Date(time).toISOString();
const isoOrNull = (time: number | null) => (time === null ? null : iso(time));
