import type { Capacity } from '#contract/report-robustness.ts';
import { tradeColumns } from '../metrics/trade-metrics.ts';
import { withSimulationErrors } from '../run/prepare-pair.ts';
import { simulate } from '../simulator/simulate.ts';
import { type TradeTable, textAt } from '../simulator/trade-table.ts';
import type { PairInput, SimulationSettings } from '../simulator/types.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { figuresOf } from './cost-sweep.ts';

/** Multiples of wallet and stake: 1, 2 and 5 of each power of ten. */
const MULTIPLES = Array.from({ length: 18 }, (_, i) => [1, 2, 5][i % 3]! * 10 ** Math.floor(i / 3));

type Level = Capacity['levels'][number];

/**
 * Simulates the run with larger stakes in a larger wallet, whose fills move the price further, until the Sharpe ratio has halved
 * and the profit is gone; yields after each simulation.
 */
export function* capacity(
  strategy: StrategyDefinition,
  pairs: readonly PairInput[],
  settings: SimulationSettings,
): Generator<void, Capacity> {
  const none = (reason: string): Capacity => ({
    ...{ levels: [], half_wallet: null, zero_wallet: null, costliest_pair: null, reason },
  });
  if (pairs.every(({ costs }) => !costs?.impact))
    return none('Without slippage_model.impact a larger stake costs nothing more. Set it, for example to 1.');
  const levels: Level[] = [];
  let table: TradeTable | undefined;
  for (const multiple of MULTIPLES) {
    const larger = enlarged(settings, multiple);
    const simulation = withSimulationErrors(strategy, () => simulate(pairs, larger));
    const wallet = larger.startingBalance;
    levels.push({ multiple, wallet, ...figuresOf(simulation, pairs, wallet) });
    if (simulation.table.length > 0) table = simulation.table;
    yield;
    const [own] = levels;
    if (!(own!.total_profit_pct > 0 && own!.sharpe_ratio! > 0))
      return none('The run earns nothing that a larger stake could lose.');
    if (hasHalved(levels) && isGone(levels)) break;
  }
  const half = crossing(levels, ({ sharpe_ratio }) => sharpe_ratio ?? 0, levels[0]!.sharpe_ratio! / 2);
  const zero = crossing(levels, ({ total_profit_pct }) => total_profit_pct, 0);
  const most = levels.at(-1)!.multiple.toLocaleString('en');
  return {
    ...{ levels, half_wallet: half, zero_wallet: zero, costliest_pair: table ? costliest(table) : null },
    reason: half === null && zero === null ? `Up to ${most} times the stake the run keeps earning.` : null,
  };
}

const hasHalved = (levels: readonly Level[]) =>
  (levels.at(-1)!.sharpe_ratio ?? 0) <= levels[0]!.sharpe_ratio! / 2;
const isGone = (levels: readonly Level[]) => levels.at(-1)!.total_profit_pct <= 0;

function enlarged(settings: SimulationSettings, multiple: number): SimulationSettings {
  const { stake, availableCapital, startingBalance } = settings;
  return {
    ...settings,
    startingBalance: startingBalance * multiple,
    stake: stake.kind === 'fixed' ? { ...stake, amount: stake.amount * multiple } : stake,
    ...(availableCapital !== undefined && { availableCapital: availableCapital * multiple }),
  };
}

/** Wallet at which a figure first falls to `target`, linear in the logarithm of the wallet; null: at no level. */
function crossing(levels: readonly Level[], figure: (level: Level) => number, target: number): number | null {
  const at = levels.findIndex((level) => figure(level) <= target);
  if (at < 1) return null;
  const [before, after] = [levels[at - 1]!, levels[at]!];
  const share = (figure(before) - target) / (figure(before) - figure(after));
  return before.wallet * (after.wallet / before.wallet) ** share;
}

/** The pair whose fills are furthest off their price. */
function costliest(table: TradeTable): string {
  const { volume, slippageCost } = tradeColumns(table);
  const sums = new Map<string, { cost: number; volume: number }>();
  for (let row = 0; row < table.length; row++) {
    const pair = textAt(table.pair, row)!;
    const of = sums.get(pair) ?? { cost: 0, volume: 0 };
    sums.set(pair, { cost: of.cost + slippageCost[row]!, volume: of.volume + volume[row]! });
  }
  const rates = [...sums].map(([pair, { cost, volume }]) => ({ pair, rate: cost / volume }));
  return rates.reduce((most, each) => (each.rate > most.rate ? each : most)).pair;
}
