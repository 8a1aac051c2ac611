import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { Capacity } from '#contract/backtests/report-robustness.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { withSimulationErrors } from '../run/prepare-pair.ts';
import { simulate } from '../simulator/simulate.ts';
import { textAt } from '../simulator/trade-table.ts';
import type { PairInput, Simulation, SimulationSettings } from '../simulator/types.ts';
import { impactCoefficient } from '../slippage/cost-days.ts';
import { sum } from '../stats/moments.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { BacktestError } from '../strategy-errors.ts';
import { impactCosts } from './impact-costs.ts';
import { figuresOf } from './simulation-figures.ts';

/** Multiples of stakes and wallet that are tried, in this order: 1, 2, 5, 10 and so on up to a million. */
const MULTIPLES = [
  ...[1, 10, 100, 1_000, 10_000, 100_000].flatMap((power) => [power, 2 * power, 5 * power]),
  1_000_000,
];

interface CapacityInput {
  readonly strategy: StrategyDefinition;
  readonly config: ResolvedBacktestConfig;
  readonly pairs: readonly PairInput[];
  readonly settings: SimulationSettings;
  readonly run: Simulation;
}

type Step = Capacity['steps'][number];

/** A level that a figure falls to, as the size of the account grows. */
interface Fall {
  readonly aum: number | null;
  readonly reason: string | null;
}

/**
 * Simulates the run with impact and ever larger stakes and wallet, until the Sharpe ratio has halved and the profit is gone.
 * Yields after each simulation.
 */
export function* measureCapacity(input: CapacityInput): Generator<void, Capacity> {
  const { run, settings, config } = input;
  const impact = impactCoefficient(config.slippage_model);
  const none = (reason: string): Capacity => ({ ...NO_CAPACITY, impact, reason });
  if (run.table.length === 0) return none('The run has no trades.');
  const pairs = input.pairs.map(({ impactCosts: costs, ...pair }) => ({ ...pair, ...(costs && { costs }) }));
  const dry = pairWithoutVolume(pairs, run);
  if (dry) return none(`${dry} has no volume on the days before some of its fills.`);
  const steps: Step[] = [];
  let largest: Costs = { total: 0, pair: null, share: null };
  let turnover = 0;
  for (const multiple of MULTIPLES) {
    const grown = timesWallet(settings, multiple);
    let simulation: Simulation;
    try {
      simulation = withSimulationErrors(input.strategy, () => simulate(pairs, grown));
    } catch (error) {
      if (!(error instanceof BacktestError)) throw error;
      return none(`The strategy failed at ${formatInteger(multiple)} times the wallet: ${error.message}`);
    }
    largest = costsOf(simulation, pairs, settings);
    if (multiple === 1 && largest.total === 0) return none(NO_IMPACT);
    if (multiple === 1) turnover = turnoverOf(simulation);
    if (multiple === 2 && setsStakes(settings) && turnoverOf(simulation) < 1.5 * turnover)
      return none('The stakes do not grow with the wallet: a callback of the strategy sets them.');
    steps.push({ multiple, ...figures(simulation, pairs, grown, largest.total) });
    yield;
    if (hasBothLimits(steps)) break;
  }
  return { impact, steps, ...limits(steps), pair: largest.pair, impact_share_pct: largest.share };
}

const NO_CAPACITY: Capacity = {
  impact: 1,
  steps: [],
  aum_half: null,
  aum_zero: null,
  pair: null,
  impact_share_pct: null,
  reason: null,
};

const NO_IMPACT =
  'No fill of the run has an impact: its orders are limit orders, or too few days with volatility come before them.';

/** The run with this multiple of its wallet and its stakes. */
function timesWallet(settings: SimulationSettings, multiple: number): SimulationSettings {
  const { stake, availableCapital } = settings;
  return {
    ...settings,
    startingBalance: settings.startingBalance * multiple,
    stake: stake.kind === 'fixed' ? { ...stake, amount: stake.amount * multiple } : stake,
    ...(availableCapital !== undefined && { availableCapital: availableCapital * multiple }),
  };
}

function setsStakes({ callbacks }: SimulationSettings): boolean {
  return callbacks?.customStake !== undefined || callbacks?.adjustPosition !== undefined;
}

function turnoverOf({ table }: Simulation): number {
  return sum(table.amount.map((amount, row) => amount * (table.entryPrice[row]! + table.exitPrice[row]!)));
}

/** The first pair with a fill after days without any volume: its impact is infinite. */
function pairWithoutVolume(pairs: readonly PairInput[], { table }: Simulation): string | undefined {
  const traded = new Map(pairs.map((pair) => [pair.pair, pair.costs]));
  const isDry = (name: string, time: number) => {
    const costs = traded.get(name);
    const day = Math.floor(time / DAY_MS) - (costs?.firstDay ?? 0);
    return costs?.impact?.[day] === Number.POSITIVE_INFINITY;
  };
  for (let row = 0; row < table.length; row++) {
    const name = textAt(table.pair, row);
    if (isDry(name, table.openedAt[row]!) || isDry(name, table.closedAt[row]!)) return name;
  }
  return undefined;
}

interface Costs {
  /** Cost of the impact of all fills, quote currency. */
  readonly total: number;
  /** The pair with the largest part of it. */
  readonly pair: string | null;
  /** That part, percent. */
  readonly share: number | null;
}

function costsOf(
  { table }: Simulation,
  pairs: readonly PairInput[],
  { slippage }: SimulationSettings,
): Costs {
  const costs = impactCosts(table, pairs, slippage);
  const total = sum(costs);
  const most = Math.max(...costs);
  if (!(total > 0)) return { total: 0, pair: null, share: null };
  return { total, pair: pairs[costs.indexOf(most)]!.pair, share: (most / total) * 100 };
}

function figures(
  simulation: Simulation,
  pairs: readonly PairInput[],
  { startingBalance: aum }: SimulationSettings,
  impactCost: number,
): Omit<Step, 'multiple'> {
  return {
    aum,
    ...figuresOf(simulation, pairs, aum),
    impact_cost_pct: (impactCost / aum) * 100,
    capped_entries: (simulation.fills ?? []).reduce((count, { cappedEntries }) => count + cappedEntries, 0),
  };
}

/** True when the profit is gone and the Sharpe ratio, if the first step has a positive one, has halved. */
function hasBothLimits(steps: readonly Step[]): boolean {
  const { total_profit_pct, sharpe_ratio } = steps.at(-1)!;
  return total_profit_pct <= 0 && !((sharpe_ratio ?? 0) > Math.max(0, (steps[0]!.sharpe_ratio ?? 0) / 2));
}

/** AUM at which the Sharpe ratio is half of that of the run's own wallet, and at which the profit is 0. */
function limits(steps: readonly Step[]): Pick<Capacity, 'aum_half' | 'aum_zero' | 'reason'> {
  const { total_profit_pct: profit, sharpe_ratio: sharpe } = steps[0]!;
  if (profit <= 0) {
    const reason = 'With impact the run does not earn at its own wallet.';
    return { aum_half: null, aum_zero: null, reason };
  }
  const half =
    sharpe !== null && sharpe > 0
      ? fallTo(steps, ({ sharpe_ratio }) => sharpe_ratio, sharpe / 2, 'The Sharpe ratio does not halve')
      : { aum: null, reason: 'The Sharpe ratio at the own wallet is not positive.' };
  const zero = fallTo(steps, (step) => step.total_profit_pct, 0, 'The profit stays positive');
  const reasons = [half, zero].flatMap(({ reason }) => reason ?? []);
  return { aum_half: half.aum, aum_zero: zero.aum, reason: reasons.join(' ') || null };
}

/** AUM at which a figure first falls to `level`: linear in the logarithm of the AUM between two steps. */
function fallTo(
  steps: readonly Step[],
  of: (step: Step) => number | null,
  level: number,
  text: string,
): Fall {
  const reached = steps.findIndex((step) => (of(step) ?? Number.POSITIVE_INFINITY) <= level);
  const [before, after] = [steps[reached - 1], steps[reached]];
  if (!before || !after)
    return { aum: null, reason: `${text} up to ${formatInteger(steps.at(-1)!.multiple)} times the wallet.` };
  const from = of(before);
  const share = from === null ? 1 : (from - level) / (from - of(after)!);
  return { aum: before.aum * (after.aum / before.aum) ** share, reason: null };
}
