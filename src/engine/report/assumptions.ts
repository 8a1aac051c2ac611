import type { ReportAssumptions } from '#contract/backtests/report.ts';
import { indexAtOrAfter } from '../candles.ts';
import type { RunSettings } from '../run/simulation-settings.ts';
import { simulate } from '../simulator/simulate.ts';
import { type TradeTable, textAt } from '../simulator/trade-table.ts';
import type { FundingEvents, PairInput, Simulation, SimulationSettings } from '../simulator/types.ts';
import type { StrategyCallbacks } from '../strategy.ts';

type Assumption = ReportAssumptions['assumptions'][number];
type Amount = Pick<Assumption, 'trades' | 'amount' | 'reason'>;

export interface AssumptionsInput {
  readonly settings: RunSettings;
  readonly run: Pick<Simulation, 'table' | 'dependsOnFillModel' | 'freedLater' | 'gapProfit' | 'fills'>;
  /** Under the other fill model; the run itself if it does not depend on the model. */
  readonly other: Pick<Simulation, 'outcomes'>;
  readonly pairs: readonly PairInput[];
  /** Quote currency. */
  readonly wallet: number;
}

/** Basis points of the entry and exit values by which costs may be off. */
const COST_STEPS_BP = [1, 2, 5];
/** Callbacks that decide which trades are entered and how large they are, not how these end. */
const ENTRY_CALLBACKS: ReadonlySet<string> = new Set<keyof StrategyCallbacks>([
  'leverage',
  'customStake',
  'confirmEntry',
]);
/** More than the stakes of all trades together. */
const WITHOUT_LIMIT = 1e12;

const TEXTS = {
  gap_at_stop: ['A candle that opens beyond the stop or liquidation fills at that price', 'Fill at the open'],
  order_in_candle: [
    'The order of stop, target and trailing stop inside a candle',
    'Each trade alone under conservative fills, such gaps at the open in both',
  ],
  freed_later: [
    'Slots and money that a later moment of the same candle frees are used',
    'Without the trades that used them',
  ],
  entry_settlement: [
    'Funding of the very time of the entry is paid or received',
    'Without it: the exchange settles positions that were open before',
  ],
  open_at_end: ['Open trades close at the open of the last candle', 'Valued at the close of the last candle'],
} as const satisfies Record<Assumption['name'], readonly [text: string, without: string]>;

/**
 * What each assumption of a run earned: its profit now minus its profit without the assumption, with the same trades and stakes
 * (docs/results.md#assumptions). Amounts are first-order effects and do not add up.
 */
export function describeAssumptions(input: AssumptionsInput): ReportAssumptions {
  const { table } = input.run;
  const trades = readTrades(input);
  const withDefaultFills = input.settings.fillModel === 'freqtrade';
  const amounts: Partial<Record<Assumption['name'], Amount>> = {
    ...(withDefaultFills && {
      gap_at_stop: sumOf(trades.map(({ gap }) => gap)),
      order_in_candle: orderInCandle(input, trades),
      freed_later: freedLater(input),
    }),
    entry_settlement: entrySettlement(input, trades),
    open_at_end: sumOf(trades.map(({ openAtEnd }) => openAtEnd)),
  };
  const assumptions = Object.entries(amounts).map(([key, amount]): Assumption => {
    const name = key as Assumption['name'];
    const [text, without] = TEXTS[name];
    return { name, text, without, ...amount, amount_pct: percentOf(amount.amount, input.wallet) };
  });
  const value = tradedValue(table);
  return {
    assumptions: assumptions.sort((a, b) => Math.abs(b.amount ?? 0) - Math.abs(a.amount ?? 0)),
    costs: COST_STEPS_BP.map((basis_points) => {
      const amount = (value * basis_points) / 10_000;
      return { basis_points, amount, amount_pct: (amount / input.wallet) * 100 };
    }),
  };
}

const percentOf = (amount: number | null, wallet: number) =>
  amount === null ? null : (amount / wallet) * 100;

/** Value of all fills, quote currency. */
function tradedValue(table: TradeTable): number {
  let value = 0;
  for (let row = 0, { length } = table; row < length; row++) {
    const orders = table.orders.get(row);
    value += orders
      ? orders.reduce((sum, { price, amount }) => sum + price * amount, 0)
      : table.amount[row]! * (table.entryPrice[row]! + table.exitPrice[row]!);
  }
  return value;
}

/** A trade of the run, and what assumptions earned in it. */
interface Trade {
  readonly row: number;
  readonly pair: PairInput;
  readonly direction: 1 | -1;
  /** By fills at the stop or liquidation in candles that opened beyond it. */
  readonly gap: number;
  readonly openAtEnd: number;
  /** Funding at the time of the entry. */
  readonly settled: number;
}

function readTrades({ run: { table, gapProfit }, pairs, settings }: AssumptionsInput): Trade[] {
  const byName = new Map(pairs.map((each) => [each.pair, each]));
  return Array.from({ length: table.length }, (_, row) => {
    const pair = byName.get(textAt(table.pair, row))!;
    const direction = textAt(table.side, row) === 'long' ? 1 : -1;
    return {
      row,
      pair,
      direction,
      gap: gapProfit[row]!,
      openAtEnd: openAtEndOf(table, row, pair, direction, settings),
      settled: settledAt(pair.funding, table.openedAt[row]!, table.amount[row]!, direction),
    };
  });
}

/** Profit of an exit at `exit` over one at `other`, after the fee of the exit. */
const exitGain = (amount: number, exit: number, other: number, direction: 1 | -1, fee: number) =>
  amount * (exit - other) * (direction - fee);

function openAtEndOf(
  table: TradeTable,
  row: number,
  { candles }: PairInput,
  direction: 1 | -1,
  { fee }: RunSettings,
): number {
  if (table.leftOpen[row] === 0) return 0;
  const exit = table.exitPrice[row]!;
  const [open, close] = [candles.open.at(-1)!, candles.close.at(-1)!];
  return exitGain(table.amount[row]!, exit, (exit * close) / open, direction, fee);
}

function settledAt(
  funding: FundingEvents | undefined,
  time: number,
  amount: number,
  direction: 1 | -1,
): number {
  if (!funding) return 0;
  const { timestamp, rate, markPrice } = funding;
  const event = indexAtOrAfter(timestamp, time);
  return timestamp[event] === time ? -direction * rate[event]! * markPrice[event]! * amount : 0;
}

/** Sum of the amounts, and the number of trades that have one. */
function sumOf(amounts: readonly number[]): Amount {
  const found = amounts.filter((each) => each !== 0);
  return { trades: found.length, amount: found.reduce((sum, each) => sum + each, 0), reason: null };
}

function unknown(reason: string): Amount {
  return { trades: null, amount: null, reason };
}

function freedLater({ run: { freedLater: freed } }: AssumptionsInput): Amount {
  return { trades: freed.entries, amount: freed.profit, reason: null };
}

function entrySettlement({ settings }: AssumptionsInput, trades: readonly Trade[]): Amount {
  const { callbacks } = settings;
  if (callbacks?.customEntryPrice || callbacks?.adjustEntryPrice) {
    return unknown('The strategy sets entry prices: an entry may fill after the time of its order.');
  }
  // Conservative fills receive nothing there, and pay.
  const counted = settings.fillModel === 'conservative' ? (each: number) => Math.min(each, 0) : Number;
  return sumOf(trades.map(({ settled }) => counted(settled)));
}

/** Each trade alone under conservative fills. Gaps fill at the open in both, and funding at the entry counts in both. */
function orderInCandle(input: AssumptionsInput, trades: readonly Trade[]): Amount {
  const { settings, run } = input;
  const deciding = Object.keys(settings.callbacks ?? {}).filter((name) => !ENTRY_CALLBACKS.has(name));
  if (deciding.length > 0) {
    return unknown(`Callbacks of the strategy take part in exits: ${deciding.join(', ')}.`);
  }
  if (!run.dependsOnFillModel) return { trades: 0, amount: 0, reason: null };
  if (settings.liquidation.marginMode === 'cross') {
    return unknown('In cross margin an exit depends on the account, which a trade alone does not have.');
  }
  const alone = profitsAlone(input, trades);
  return sumOf(
    trades.map(({ row, gap, settled }) => {
      const earned = run.table.profit[row]! - gap - (alone[row]! + Math.max(settled, 0));
      // Two simulations round differently.
      return Math.abs(earned) < 1e-7 || Number.isNaN(earned) ? 0 : earned;
    }),
  );
}

/** Rows of the run's trades by pair, then by {@link keyOf}. */
type TradeRows = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Of one pair. */
const keyOf = (side: 'long' | 'short', openedAt: number) => 2 * openedAt + (side === 'long' ? 0 : 1);

function rowsOf(table: TradeTable): TradeRows {
  const rows = new Map(table.pair.texts.map((pair) => [pair, new Map<number, number>()]));
  for (let row = 0; row < table.length; row++) {
    const key = keyOf(textAt(table.side, row), table.openedAt[row]!);
    rows.get(textAt(table.pair, row))!.set(key, row);
  }
  return rows;
}

/**
 * Profit of each trade alone under conservative fills, with its own stake; NaN without one. The exit of a trade depends on no other trade:
 * most of them are in the conservative run too.
 */
function profitsAlone(input: AssumptionsInput, trades: readonly Trade[]): Float64Array {
  const { table } = input.run;
  const rows = rowsOf(table);
  const profits = new Float64Array(table.length).fill(Number.NaN);
  if (hasSameExits(input)) copyProfits(input, trades, rows, profits);
  const missing = trades.filter(({ row }) => Number.isNaN(profits[row]!));
  if (missing.length > 0) simulateAlone(input, missing, rows, profits);
  return profits;
}

/** False where prices of a trade depend on other trades, or a callback might size it in another way. */
const hasSameExits = ({ run, settings }: AssumptionsInput) =>
  run.fills === null && settings.liquidation.marginMode !== 'cross' && !settings.callbacks?.leverage;

function copyProfits(
  { run: { table }, other }: AssumptionsInput,
  trades: readonly Trade[],
  rows: TradeRows,
  profits: Float64Array,
): void {
  const { outcomes } = other;
  for (let index = 0; index < outcomes.length; index++) {
    const { pair, side, openedAt, amount, profit } = outcomes.at(index);
    const row = rows.get(pair)?.get(keyOf(side, openedAt));
    if (row === undefined) continue;
    const own = table.amount[row]!;
    // The liquidation price of another value may be that of another tier.
    const hasTiers = trades[row]!.pair.instrument?.leverageTiers !== undefined;
    if (own === amount || !hasTiers) profits[row] = (profit * own) / amount;
  }
}

/** Simulates trades, each with its own stake and leverage and without a rule that any other trade could change. */
function simulateAlone(
  { settings, pairs, run: { table } }: AssumptionsInput,
  trades: readonly Trade[],
  rows: TradeRows,
  profits: Float64Array,
): void {
  const rowAt = (pair: string, side: 'long' | 'short', time: number) =>
    rows.get(pair)?.get(keyOf(side, time));
  const alone: SimulationSettings = {
    ...settings,
    fillModel: 'conservative',
    startingBalance: WITHOUT_LIMIT,
    tradableBalanceRatio: 1,
    maxOpenTrades: Number.POSITIVE_INFINITY,
    positionStacking: true,
    stake: { kind: 'fixed', amount: 1 },
    callbacks: {
      confirmEntry: ({ pair, time }, side) => rowAt(pair, side, time) !== undefined,
      customStake: ({ pair, time }, side, proposed) => {
        const row = rowAt(pair, side, time);
        return row === undefined ? proposed : table.stake[row]!;
      },
      leverage: ({ pair, time }, side, proposed) => {
        const row = rowAt(pair, side, time);
        return row === undefined ? proposed : table.leverage[row]!;
      },
    },
  };
  const { protections: _, availableCapital: __, ...free } = alone;
  const byPair = Map.groupBy(trades, ({ pair }) => pair);
  const inputs = pairs.map((pair) => enterOnlyAt(pair, byPair.get(pair) ?? [], table, settings.timeframeMs));
  const { outcomes } = simulate(inputs, free, { equity: false });
  for (let index = 0; index < outcomes.length; index++) {
    const { pair, side, openedAt, amount, profit } = outcomes.at(index);
    const row = rowAt(pair, side, openedAt)!;
    // The amount may be a step less: it is cut again from the rounded stake.
    profits[row] = (profit * table.amount[row]!) / amount;
  }
}

/** The pair with the entry signals of its trades only. The others still hold exits back. */
function enterOnlyAt(
  pair: PairInput,
  trades: readonly Trade[],
  table: TradeTable,
  stepMs: number,
): PairInput {
  const [first] = pair.candles.timestamp;
  const { universe, signals } = pair;
  const { enterLong, enterShort } = signals;
  // A signal acts in the candle after its own.
  const signalled = trades.map(({ row }) => Math.floor((table.openedAt[row]! - first!) / stepMs) - 1);
  const only = (column: Uint8Array) => {
    const kept = new Uint8Array(column.length);
    for (const row of signalled) kept[row] = column[row]!;
    return kept;
  };
  return {
    ...pair,
    signals: {
      ...signals,
      ...(enterLong && { enterLong: only(enterLong) }),
      ...(enterShort && { enterShort: only(enterShort) }),
    },
    universe: { intervals: [], ...universe, signals: universe?.signals ?? signals },
  };
}
