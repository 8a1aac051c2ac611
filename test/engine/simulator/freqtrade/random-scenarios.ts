import type { Protection } from '#contract/config/protections.ts';
import { createRandom, type Random } from '#engine/random.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { Row } from '../market.ts';
import {
  type AnswerTable,
  type CandleSet,
  type Scenario,
  SHARED,
  type Shared,
  type VectorPair,
} from '../vectors.ts';

/**
 * Random scenarios for the engine and for freqtrade, in the form of the recorded ones. They leave out what differs by decision
 * (docs/decisions/039, 077, 081 and 094):
 * - adjusted positions in markets without an amount step or a minimum order, and exits of more than the position;
 * - funding of adjusted positions between two candles;
 * - detail candles that are incomplete, and pairs with detail candles that end early;
 * - several trades of a pair in cross margin.
 *
 * Where margin and its losses differ by decision, the driver changes freqtrade. Rejected signals are not compared with detail candles.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** 2025-03-31T00:00Z: in the longer runs the price ticks of a month change. */
const START = Date.UTC(2025, 2, 31);

class Draw {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  of<T>(...values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)]!;
  }

  /** Integer in [from, to]. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  between(from: number, to: number): number {
    return from + this.#random() * (to - from);
  }
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

interface Market {
  /** Price of the first candle, and its decimals. */
  readonly price: number;
  readonly decimals: number;
}

const MARKETS: readonly Market[] = [
  { price: 100, decimals: 2 },
  { price: 40, decimals: 1 },
  { price: 1_500, decimals: 1 },
  { price: 60_000, decimals: 0 },
  { price: 0.5, decimals: 4 },
  { price: 7, decimals: 3 },
  // Coarse: prices equal stops and targets exactly.
  { price: 100, decimals: 0 },
  { price: 1_000_000, decimals: 0 },
  { price: 0.00003, decimals: 9 },
];

function walk(draw: Draw, { price, decimals }: Market, length: number, volatility: number): Row[] {
  const tick = 10 ** -decimals;
  let close = price;
  return Array.from({ length }, () => {
    const open = draw.chance(0.1) ? rounded(close * (1 + draw.between(-1, 1) * volatility), decimals) : close;
    close = Math.max(tick, rounded(open * (1 + draw.between(-1, 1) * volatility), decimals));
    const wick = () => (draw.chance(0.2) ? 0 : draw.between(0, volatility) * price);
    const high = rounded(Math.max(open, close) + wick(), decimals);
    const low = Math.max(tick, rounded(Math.min(open, close) - wick(), decimals));
    return [open, high, Math.min(low, open, close), close];
  });
}

function merged(rows: readonly Row[], count: number): Row[] {
  const result: Row[] = [];
  for (let at = 0; at < rows.length; at += count) {
    const part = rows.slice(at, at + count);
    result.push([
      part[0]![0],
      Math.max(...part.map(([, high]) => high)),
      Math.min(...part.map(([, , low]) => low)),
      part.at(-1)![3],
    ]);
  }
  return result;
}

/** Of scenarios that replace entries: freqtrade counts the stake before that until a later fill, and this is enough either way. */
const LARGE_WALLET = 100_000;

const minutesOf = (timeframe: Timeframe) => TIMEFRAME_MS[timeframe] / MINUTE;

/** Detail timeframes of each timeframe. */
const DETAILS: Partial<Record<Timeframe, Timeframe>> = { '1h': '5m', '4h': '1h', '1d': '4h' };

/** A scenario with candles and funding of its own. */
export interface RandomScenario {
  readonly scenario: Scenario;
  readonly shared: Shared;
}

/** @param seed same seed, same scenario */
export function randomScenario(seed: number): RandomScenario {
  const draw = new Draw(seed);
  const timeframe = draw.of<Timeframe>(
    '1h',
    '1h',
    '1h',
    '30m',
    '15m',
    '5m',
    '4h',
    '1d',
    draw.of<Timeframe>('2h', '12h', '3d', '1w'),
  );
  const detail = draw.chance(0.3) ? DETAILS[timeframe] : undefined;
  const perCandle = detail ? minutesOf(timeframe) / minutesOf(detail) : 1;
  const spot = draw.chance(0.25);
  const startup = draw.chance(0.3) ? draw.integer(1, 12) : 0;
  const length = startup + draw.integer(25, detail ? 40 : 60);
  const names = ['AAA', 'BBB', 'CCC'].slice(0, draw.integer(1, 3));
  const cross = !spot && draw.chance(0.2);
  // Positions that are liquidated before they are stopped.
  const daring = !spot && draw.chance(0.3);
  const settings = {
    timeframe,
    ...(detail && { timeframe_detail: detail }),
    trading_mode: spot ? 'spot' : 'futures',
    margin_mode: spot ? '' : cross ? 'cross' : 'isolated',
    ...settingsOf(draw, timeframe, { detail: detail !== undefined, cross, daring }),
  };
  const sets: Record<string, CandleSet> = {};
  const funding: Record<string, [number, number, number][]> = {};
  const pairs: Record<string, VectorPair> = {};
  for (const name of names) {
    const market = draw.of(...MARKETS);
    const late = draw.of(0, 0, draw.integer(1, 8));
    const early = detail ? 0 : draw.of(0, 0, draw.integer(1, 8));
    const rows = length - late - early;
    const start = START + late * TIMEFRAME_MS[timeframe];
    const volatility = draw.of(0.002, 0.006, 0.02, 0.02, 0.08) * (detail ? 0.5 : 1) * (daring ? 3 : 1);
    const fine = walk(draw, market, rows * perCandle, volatility);
    const missing = detail || draw.chance(0.8) ? [] : gapsOf(draw, rows);
    sets[name] = { timeframe, start_ms: start, rows: filled(merged(fine, perCandle), missing), missing };
    if (detail) sets[`${name}-detail`] = { timeframe: detail, start_ms: start, rows: fine };
    const step = minutesOf(detail ?? timeframe) / 60;
    // freqtrade loses the events between two candles where an addition is filled that has waited.
    const every = settings.position_adjustment_enable && step > 1 ? step : draw.of(1, 4, 8);
    if (!spot && draw.chance(0.7)) funding[name] = eventsOf(draw, market, start, sets[name]!, every);
    pairs[spot ? `${name}/USDT` : `${name}/USDT:USDT`] = {
      candles: name,
      ...(detail && { detail: `${name}-detail` }),
      ...(funding[name] && { funding: name }),
      market: limitsOf(draw, market, spot, settings.position_adjustment_enable),
      ...(!spot && draw.chance(0.5) && { leverage_tiers: tiersOf(draw) }),
    };
  }
  const shared: Shared = { ...SHARED, candle_sets: sets, funding_sets: funding };
  const canShort = !spot && draw.chance(0.7);
  const scenario = {
    id: `random-${seed}`,
    settings,
    pairs,
    can_short: canShort,
    ...(startup > 0 && { startup_candles: startup }),
    signals: Object.fromEntries(
      Object.entries(pairs).map(([pair, { candles }]) => [pair, signalsOf(draw, sets[candles]!.rows.length)]),
    ),
    ...(settings.enable_protections && { protections: protectionsOf(draw) }),
    answers: answersOf(draw, pairs, sets, settings, spot),
  };
  return { scenario, shared };
}

/** Rows that are not stored; the first and the last one are. */
function gapsOf(draw: Draw, rows: number): number[] {
  const share = draw.of(0.05, 0.3);
  return Array.from({ length: rows - 2 }, (_, row) => row + 1).filter(() => draw.chance(share));
}

/** The rows with those that are not stored as the run fills them: flat at the close before. */
function filled(rows: readonly Row[], missing: readonly number[]): Row[] {
  const result = [...rows];
  for (const row of missing) {
    const close = result[row - 1]![3];
    result[row] = [close, close, close, close];
  }
  return result;
}

/** Two to five ranges of value; the amounts make the maintenance margin continuous. */
function tiersOf(draw: Draw): NonNullable<VectorPair['leverage_tiers']> {
  const rates = [0.004, 0.005, 0.0065, 0.01, 0.02, 0.025, 0.05, 0.1];
  const leverages = [125, 100, 75, 50, 25, 20, 10, 5];
  const first = draw.integer(0, 3);
  const count = draw.integer(2, 5);
  const last = 1e12;
  let amount = 0;
  let min = 0;
  let max: number = draw.of(100, 300, 1_000, 2_500);
  return Array.from({ length: count }, (_, tier) => {
    const rate = rates[first + tier]!;
    const before = rates[first + tier - 1] ?? rate;
    if (tier > 0) amount = rounded(amount + min * (rate - before), 8);
    const limits = { minNotional: min, maxNotional: tier === count - 1 ? last : max };
    min = max;
    max *= draw.of(2, 3, 5);
    return {
      ...limits,
      maintenanceMarginRate: rate,
      maxLeverage: leverages[first + tier]!,
      maintAmt: amount,
    };
  });
}

function eventsOf(
  draw: Draw,
  { price, decimals }: Market,
  start: number,
  { timeframe, rows }: CandleSet,
  every: number,
): [number, number, number][] {
  const hours = Math.ceil((rows.length * TIMEFRAME_MS[timeframe]) / HOUR);
  const events: [number, number, number][] = [];
  const first = Math.ceil(start / HOUR) * HOUR;
  for (let hour = 0; hour <= hours; hour += every) {
    const rate = rounded(draw.between(-0.002, 0.002), 6);
    events.push([first + hour * HOUR, rate, rounded(price * draw.between(0.95, 1.05), decimals)]);
  }
  return events;
}

function limitsOf(
  draw: Draw,
  { price, decimals }: Market,
  spot: boolean,
  adjusts: boolean,
): VectorPair['market'] {
  const step = 10 ** Math.floor(Math.log10(0.02 / price) + draw.integer(0, 2));
  const contractSize = spot ? 1 : draw.of(1, 1, 1, 10, 0.1);
  return {
    // Without a step freqtrade leaves a rest of adjusted positions.
    ...((adjusts || draw.chance(0.9)) && { amount_step: step }),
    // Candles of integer prices show no tick. Without one nothing is rounded, and the last digits of a profit differ.
    price_tick: 10 ** -decimals,
    ...(draw.chance(0.5) && { amount_min: step * draw.of(1, 1, 10, 100) }),
    // Without any minimum freqtrade sells more than it has.
    cost_min: draw.of(1, 5, 5, 60) / contractSize,
    ...(contractSize === 1 && draw.chance(0.1) && { amount_max: rounded(draw.of(60, 150) / price, 6) }),
    ...(draw.chance(0.1) && { cost_max: draw.of(80, 300) / contractSize }),
    ...(contractSize !== 1 && { contract_size: contractSize }),
  };
}

function settingsOf(
  draw: Draw,
  timeframe: Timeframe,
  { detail, cross, daring }: Readonly<Record<'detail' | 'cross' | 'daring', boolean>>,
) {
  const small = cross && daring;
  const replacesEntries = draw.chance(0.3) && !small;
  const unlimited = !replacesEntries && draw.chance(0.2);
  // freqtrade has one collateral for each pair, so it loses that of further trades of a pair in cross margin.
  const stacking = draw.chance(0.15) && !cross;
  const slots = unlimited || draw.chance(0.5) ? draw.integer(1, 3) : draw.of(undefined, -1);
  const seconds = draw.chance(0.2);
  const perMinute = seconds ? 60 : 1;
  const long = Math.max(1, minutesOf(timeframe) / 60);
  return {
    fee: draw.of(0, 0.0005, 0.001, 0.01),
    stake_amount: unlimited ? 'unlimited' : draw.of(30, 100, 400, 77.7),
    dry_run_wallet: replacesEntries ? LARGE_WALLET : small ? draw.of(120, 350.5) : draw.of(1000, 1000, 350.5),
    tradable_balance_ratio: draw.of(0.99, 1, 0.6),
    ...(!replacesEntries && draw.chance(0.15) && { available_capital: draw.of(200, 600) }),
    ...(draw.chance(0.3) && {
      amend_last_stake_amount: true,
      last_stake_amount_min_ratio: draw.of(0.2, 0.5, 0.9),
    }),
    ...(slots !== undefined && { max_open_trades: slots }),
    // In cross margin the account pays more than the stake. The stop is above 0 with the leverages of such a run.
    stoploss: daring ? (cross ? -4.5 : -0.99) : draw.of(-0.005, -0.02, -0.05, -0.1, -0.3),
    ...(draw.chance(0.2) && { liquidation_buffer: draw.of(0, 0.01, 0.2) }),
    minimal_roi: roiOf(draw, long),
    ...trailingOf(draw),
    use_exit_signal: draw.chance(0.85),
    exit_profit_only: draw.chance(0.2),
    exit_profit_offset: draw.of(0, 0.01, -0.01),
    ignore_roi_if_entry_signal: draw.chance(0.2),
    unfilledtimeout: {
      entry: draw.of(5, 10, 60, 120, 300, 1200) * long * perMinute,
      exit: draw.of(5, 10, 60, 120, 300, 1200) * long * perMinute,
      unit: seconds ? 'seconds' : 'minutes',
      exit_timeout_count: 0,
    },
    ...(detail &&
      draw.chance(0.3) && { ignore_buying_expired_candle_after: draw.of(1, 300, 750, 1800) * long }),
    position_stacking: stacking,
    position_adjustment_enable: draw.chance(0.5),
    max_entry_position_adjustment: draw.of(-1, -1, 0, 1, 3),
    use_custom_stoploss: draw.chance(0.3),
    enable_protections: draw.chance(0.3),
    order_types: {
      entry: draw.of('limit', 'limit', 'limit', 'market'),
      exit: draw.of('limit', 'limit', 'limit', 'market'),
      stoploss: 'market',
      stoploss_on_exchange: false,
      emergency_exit: 'market',
    },
  };
}

type RandomSettings = ReturnType<typeof settingsOf>;

function roiOf(draw: Draw, long: number): Record<string, number> {
  const table: Record<string, number> = {};
  for (const minutes of [0, 5, 30, 60, 90, 180, 600])
    if (draw.chance(0.3)) table[minutes * long] = draw.of(-1, 0, 0.002, 0.005, 0.01, 0.03, 0.1, -0.01);
  return table;
}

function trailingOf(draw: Draw) {
  if (draw.chance(0.6)) return {};
  const positive = draw.chance(0.6) ? draw.of(0.002, 0.005, 0.02) : null;
  const offset = positive === null ? 0 : draw.of(0, positive + 0.001, positive + 0.01);
  return {
    trailing_stop: true,
    trailing_stop_positive: positive,
    trailing_stop_positive_offset: offset,
    trailing_only_offset_is_reached: positive !== null && offset > 0 && draw.chance(0.5),
  };
}

function protectionsOf(draw: Draw): Protection[] {
  const stop = () =>
    draw.of<Partial<Protection>>(
      { stop_duration_candles: draw.integer(1, 6) },
      { stop_duration: draw.of(30, 90, 240) },
      { unlock_at: draw.of('00:00', '13:30', '23:59') },
    );
  const lookback = () =>
    draw.of({ lookback_period_candles: draw.integer(2, 40) }, { lookback_period: draw.of(60, 600, 1440) });
  const all: Protection[] = [
    { method: 'CooldownPeriod', ...stop(), ...lookback() },
    {
      method: 'StoplossGuard',
      trade_limit: draw.integer(1, 3),
      only_per_pair: draw.chance(0.5),
      only_per_side: draw.chance(0.5),
      required_profit: draw.of(0, 0.01, -0.01),
      ...stop(),
      ...lookback(),
    },
    {
      method: 'LowProfitPairs',
      trade_limit: draw.integer(1, 3),
      required_profit: draw.of(0, 0.01, -0.01),
      only_per_side: draw.chance(0.3),
      ...stop(),
      ...lookback(),
    },
    {
      method: 'MaxDrawdown',
      trade_limit: draw.integer(1, 3),
      max_allowed_drawdown: draw.of(0, 0.005, 0.02),
      calculation_mode: draw.of('ratios', 'equity'),
      ...stop(),
      ...lookback(),
    },
  ] as Protection[];
  return all.filter(() => draw.chance(0.5));
}

function signalsOf(draw: Draw, length: number): [number, string, string?][] {
  const entries = draw.of(0.05, 0.2, 0.5);
  const exits = draw.of(0.02, 0.1, 0.2);
  const signals: [number, string, string?][] = [];
  const add = (row: number, column: string, probability: number) => {
    if (!draw.chance(probability)) return;
    if (column.startsWith('enter') && draw.chance(0.2)) signals.push([row, column, draw.of('up', 'down')]);
    else signals.push([row, column]);
    if (column.startsWith('exit') && draw.chance(0.2))
      signals.push([row, 'exit_tag', draw.of('late', 'flat')]);
  };
  for (let row = 0; row < length; row++) {
    add(row, 'enter_long', entries);
    add(row, 'enter_short', entries / 2);
    add(row, 'exit_long', exits);
    add(row, 'exit_short', exits);
  }
  return signals;
}

type Answer = AnswerTable[string][string];

function answersOf(
  draw: Draw,
  pairs: Readonly<Record<string, VectorPair>>,
  sets: Readonly<Record<string, CandleSet>>,
  settings: RandomSettings & { readonly timeframe: Timeframe; readonly timeframe_detail?: Timeframe },
  spot: boolean,
): Record<string, AnswerTable> {
  const answers: Record<string, AnswerTable> = {};
  const step = minutesOf(settings.timeframe_detail ?? settings.timeframe);
  const perCandle = minutesOf(settings.timeframe) / step;
  /** A table with an answer for a share of the candles, of each pair; `value` gets the open of the candle. */
  const table = (name: string, share: number, value: (open: number, decimals: number) => Answer) => {
    answers[name] = Object.fromEntries(
      Object.entries(pairs).map(([pair, { candles, detail }]) => {
        const rows: Record<string, Answer> = {};
        const set = sets[detail ?? candles]!;
        const decimals = Math.max(...set.rows.map(([open]) => (String(open).split('.')[1] ?? '').length));
        set.rows.forEach(([open], at) => {
          const row = Math.floor(at / perCandle);
          const minutes = (at % perCandle) * step;
          if (draw.chance(share)) rows[minutes ? `${row}+${minutes}` : `${row}`] = value(open, decimals);
        });
        return [pair, rows];
      }),
    );
  };
  const price = (spread: number) => (open: number, decimals: number) =>
    rounded(open * (1 + draw.between(-spread, spread)), decimals + draw.of(0, 0, 2));
  const spread = draw.of(0.002, 0.01);
  if (!spot && settings.stoploss < -0.9) table('leverage', 1, () => draw.of(5, 10, 20, 50, 125));
  else if (!spot && draw.chance(0.5)) table('leverage', 0.9, () => draw.of(1, 2, 3, 5, 10, 2.5, 20));
  if (draw.chance(0.4)) table('custom_entry_price', 0.8, price(spread));
  if (draw.chance(0.4)) table('custom_exit_price', 0.8, price(spread));
  if (draw.chance(0.3))
    table('custom_stake_amount', 0.8, () =>
      draw.of(0, null, 1, 3, 10, 50, 100, 500, 2_000, rounded(draw.between(5, 300), 3)),
    );
  if (draw.chance(0.2)) table('custom_roi', 0.7, () => draw.of(null, 0.001, 0.003, 0.01, 0.03, -0.01));
  if (draw.chance(0.3)) table('custom_exit', 0.07, () => draw.of('too_old', 'why_not'));
  if (settings.dry_run_wallet === LARGE_WALLET)
    table('adjust_entry_price', 0.8, (open, decimals) =>
      draw.chance(0.15) ? null : price(spread)(open, decimals),
    );
  if (draw.chance(0.3))
    table('adjust_exit_price', 0.8, (open, decimals) =>
      draw.chance(0.15) ? null : price(spread)(open, decimals),
    );
  if (draw.chance(0.2)) table('check_entry_timeout', 0.2, () => true);
  if (draw.chance(0.2)) table('check_exit_timeout', 0.2, () => true);
  if (draw.chance(0.2)) table('confirm_trade_entry', 0.3, () => false);
  if (draw.chance(0.2))
    table('confirm_trade_exit_refused_reasons', 0.3, () =>
      draw.of(['roi'], ['exit_signal'], ['stop_loss', 'trailing_stop_loss'], ['too_old', 'roi']),
    );
  if (settings.use_custom_stoploss) {
    table('custom_stoploss', 0.5, () => draw.of(-0.003, -0.01, -0.03, -0.08, null));
    if (draw.chance(0.4)) table('custom_stoploss_after_fill', 0.7, () => draw.of(-0.01, -0.05, -0.2, null));
  }
  if (settings.position_adjustment_enable) {
    const added = () => draw.of(20, 50, 7, 300, rounded(draw.between(5, 120), 2));
    table('adjust_trade_position', draw.of(0.1, 0.4), () => {
      // What is left of a position is unknown here; more than all of it differs by decision.
      if (draw.chance(0.5)) return { share: draw.of(-0.137, -0.271, -0.513, -0.91, -1) };
      return draw.chance(0.2) ? [added(), 'adjusted'] : added();
    });
  }
  return answers;
}
