import type { BreakEven } from '#contract/backtests/report-robustness.ts';
import type { TradeColumns } from '../metrics/trade-metrics.ts';
import { simulate } from '../simulator/simulate.ts';
import type { PairInput, SimulateOptions, Simulation, SimulationSettings } from '../simulator/types.ts';
import { smallest, sum } from '../stats/moments.ts';

export interface BreakEvenInput {
  readonly pairs: readonly PairInput[];
  readonly settings: SimulationSettings;
  readonly trades: TradeColumns;
  /** True: simulate also where a simulation is expensive. */
  readonly thorough: boolean;
}

/** Further simulations of a run: together with the look-ahead cuts they may take a tenth of its task's time. */
const MAX_SIMULATIONS = 1;
const MAX_THOROUGH_SIMULATIONS = 20;
/** Largest cost that is tried. */
const MAX_COST = 0.2;
/** Share of the wallet up to which a profit counts as 0. */
const PRECISION = 1e-9;

/** Simulates the run with one fee per side in place of its fee and slippage, spread and impact included. */
export function simulateAtCost(
  pairs: readonly PairInput[],
  settings: SimulationSettings,
  cost: number,
  options?: SimulateOptions,
): Simulation {
  const withoutCosts = pairs.map(({ costs: _, ...pair }) => pair);
  return simulate(withoutCosts, { ...settings, fee: cost, slippage: 0 }, options);
}

/** Fee and slippage per side; with a slippage model the mean over the value of all fills. */
function paidPerSide({ pairs, settings, trades }: BreakEvenInput, turnover: number): number {
  const isModelled = turnover > 0 && pairs.some(({ costs }) => costs !== undefined);
  return settings.fee + (isModelled ? sum(trades.slippageCost) / turnover : settings.slippage);
}

/** Cost per side, in place of fee and slippage, at which the profit of the run is 0. */
export function breakEven(input: BreakEvenInput): BreakEven {
  const { settings, trades, thorough } = input;
  const turnover = sum(trades.volume);
  const paid = paidPerSide(input, turnover);
  const unknown = { cost: null, paid, method: null, simulations: 0 };
  if (!(turnover > 0)) return { ...unknown, reason: 'The run has no trades.' };
  const gross = sum(trades.profit) + sum(trades.fees) + sum(trades.slippageCost);
  const cost = isNothing(gross, settings) ? 0 : gross / turnover;
  if (costsKeepTrades(input, Math.max(cost, paid))) return known(cost, 'closed_form', paid, 0);
  if (!thorough && (cost <= 0 || isExpensive(settings))) return known(cost, 'same_trades', paid, 0);
  return search(input, paid, cost, turnover);
}

/** True for a profit that counts as 0. */
function isNothing(profit: number, { startingBalance }: SimulationSettings): boolean {
  return Math.abs(profit) <= PRECISION * startingBalance;
}

/** @param cost below 0: the trades lose without costs */
function known(cost: number, method: BreakEven['method'], paid: number, simulations: number): BreakEven {
  if (cost >= 0) return { cost, paid, method, simulations, reason: null };
  return { cost: null, paid, method, simulations, reason: 'The trades lose without any costs.' };
}

/** Callbacks and detail candles act in every candle, so that a simulation takes much of a run's time. */
function isExpensive({ callbacks, detailTimeframeMs }: SimulationSettings): boolean {
  return callbacks !== undefined || detailTimeframeMs !== undefined;
}

/**
 * True when the run has the same trades at every cost from 0 to `highest`, with profits that are linear in the cost:
 * - the stake is fixed, and the wallet pays it for all slots at every time;
 * - no exit depends on a profit after fees, and no price of a fill on the slippage;
 * - no callback, no protection and no margin of the account sees a profit.
 */
export function costsKeepTrades(
  { settings, trades, pairs }: Pick<BreakEvenInput, 'settings' | 'trades' | 'pairs'>,
  highest: number,
): boolean {
  const { stake, callbacks, protections = [], minimalRoi = {}, trailing, liquidation } = settings;
  const isMechanical =
    stake.kind === 'fixed' &&
    settings.slippage === 0 &&
    settings.participation === undefined &&
    pairs.every(({ costs }) => costs === undefined) &&
    settings.availableCapital === undefined &&
    callbacks === undefined &&
    liquidation.marginMode !== 'cross' &&
    protections.length === 0 &&
    trailing === undefined &&
    !settings.exitProfitOnly &&
    Object.keys(minimalRoi).length === 0;
  if (!isMechanical) return false;
  // A liquidation loses the collateral at any cost, and its price depends on the fee where the exchange sets that aside.
  const { exitReason, liquidationPrice } = trades;
  const isLiquidated = exitReason.index.some((index) => exitReason.texts[index] === 'liquidation');
  if (isLiquidated || (liquidation.closingFee === undefined && !liquidationPrice.every(Number.isNaN)))
    return false;
  // A pair with stacked trades takes several slots.
  const most = settings.positionStacking ? Number.POSITIVE_INFINITY : pairs.length;
  const slots = Math.min(settings.maxOpenTrades > 0 ? settings.maxOpenTrades : most, most);
  const stakes = slots * stake.amount * (1 + 2 * highest * Math.max(1, settings.leverage));
  return lowestBalance(settings, trades, highest) * (settings.tradableBalanceRatio ?? 0.99) >= stakes;
}

/** Smallest balance after a trade when each side of the trades costs `cost`. */
function lowestBalance(settings: SimulationSettings, trades: TradeColumns, cost: number): number {
  let balance = settings.startingBalance;
  const balances = trades.profit.map((profit, row) => {
    balance += profit + trades.fees[row]! - cost * trades.volume[row]!;
    return balance;
  });
  return balances.length === 0 ? balance : Math.min(settings.startingBalance, smallest(balances));
}

interface Point {
  readonly cost: number;
  readonly profit: number;
}

/**
 * Finds the cost by simulations. The first steps use the slope that the same trades would have; between a profit and a loss they
 * follow the chord and halve the interval in turn, because an exit that changes makes the profit jump.
 */
function search(
  { pairs, settings, thorough, trades }: BreakEvenInput,
  paid: number,
  guess: number,
  turnover: number,
): BreakEven {
  const limit = thorough ? MAX_THOROUGH_SIMULATIONS : MAX_SIMULATIONS;
  // The run itself is the first point; its slippage is close to a fee of the same size.
  const own = { cost: paid, profit: sum(trades.profit) };
  let winning: Point | undefined = own.profit > 0 ? own : undefined;
  let losing: Point | undefined = own.profit > 0 ? undefined : own;
  let next = within(guess, 0, MAX_COST);
  let simulations = 0;
  // An estimate at an end of the range says that no cost in it would do, which only a simulation there can show.
  while (simulations < limit || next === 0 || next === MAX_COST) {
    const { finalBalance } = simulateAtCost(pairs, settings, next, { equity: false });
    simulations++;
    const point = { cost: next, profit: finalBalance - settings.startingBalance };
    if (point.profit > 0) winning = point;
    else losing = point;
    if (isNothing(point.profit, settings)) break;
    if (losing?.cost === 0 || winning?.cost === MAX_COST) break;
    next =
      winning && losing && simulations % 2 === 0
        ? (winning.cost + losing.cost) / 2
        : chord(winning, losing, turnover);
  }
  if (winning?.cost === MAX_COST) {
    const reason = `The trades win at ${MAX_COST * 100} % per side too, the highest cost that is tried.`;
    return { cost: null, paid, method: 'simulated', simulations, reason };
  }
  if (losing?.cost === 0)
    return known(isNothing(losing.profit, settings) ? 0 : -1, 'simulated', paid, simulations);
  return known(chord(winning, losing, turnover), 'simulated', paid, simulations);
}

/** Cost at which the profit is 0 on the line through both points; through one point with the slope of unchanged trades. */
function chord(winning: Point | undefined, losing: Point | undefined, turnover: number): number {
  if (winning && losing) {
    const share = winning.profit / (winning.profit - losing.profit);
    return winning.cost + share * (losing.cost - winning.cost);
  }
  const point = (winning ?? losing)!;
  return within(point.cost + point.profit / turnover, 0, MAX_COST);
}

function within(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
