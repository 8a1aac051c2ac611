import * as fc from 'fast-check';
import type { Bar, FundingEvent, Market, OrderAnswers, Rules, Signals, Trailing } from './types.ts';

/** Random markets and rules, generated so that prices often equal levels exactly. */

const MINUTE = 60_000;
const START = Date.UTC(2024, 1, 28, 21);

/** Number of random cases. Set CASE_SCALE=100 after a change of the simulator. */
export const cases = (count: number): { numRuns: number } => ({
  numRuns: count * Number(process.env.CASE_SCALE ?? 1),
});

export interface Case {
  markets: Market[];
  rules: Rules;
}

/** Percent moves: mostly none or round, sometimes extreme. */
const MOVES = [0, 0, 0, 0.1, 0.5, 1, 1, 2, 2, 3, 5, 10, 33];

interface Step {
  gap: number;
  body: number;
  up: number;
  down: number;
  said: number;
  tag: number;
}

const move = fc.constantFrom(...MOVES.map((size) => size / 100));
const signedMove = fc.tuple(move, fc.boolean()).map(([size, down]) => (down ? -size : size));

const step: fc.Arbitrary<Step> = fc.record({
  gap: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: signedMove }),
  body: signedMove,
  up: move,
  down: move,
  // Four bits: enter long, exit long, enter short, exit short. Mostly single bits.
  said: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.constantFrom(1, 2, 4, 8) },
    { weight: 1, arbitrary: fc.nat(15) },
  ),
  tag: fc.nat(5),
});

/** `wildness` scales every move. */
function barsOf(
  steps: readonly Step[],
  from: number,
  stepMs: number,
  price: number,
  wildness: number,
): Bar[] {
  let before = price;
  return steps.map(({ gap, body, up, down }, i) => {
    const open = before * (1 + gap * wildness);
    const close = open * (1 + body * wildness);
    before = close;
    return {
      time: from + i * stepMs,
      open,
      close,
      high: Math.max(open, close) * (1 + up * wildness),
      low: Math.min(open, close) * (1 - down * wildness),
    };
  });
}

function signalsOf({ said, tag }: Step): Signals {
  return {
    enterLong: (said & 1) !== 0,
    exitLong: (said & 2) !== 0,
    enterShort: (said & 4) !== 0,
    exitShort: (said & 8) !== 0,
    ...(tag === 1 && { enterTag: 'first' }),
    ...(tag === 2 && { enterTag: 'second' }),
    ...(tag === 3 && { exitTag: 'left' }),
  };
}

/** Row without signals. */
export const NO_SIGNALS: Signals = { enterLong: false, exitLong: false, enterShort: false, exitShort: false };

/** Aggregates `count` fine candles into one. */
function aggregate(fine: readonly Bar[], count: number): Bar[] {
  const bars: Bar[] = [];
  for (let i = 0; i + count <= fine.length; i += count) {
    const group = fine.slice(i, i + count);
    const [first, last] = [group[0] as Bar, group.at(-1) as Bar];
    bars.push({
      time: first.time,
      open: first.open,
      close: last.close,
      high: Math.max(...group.map(({ high }) => high)),
      low: Math.min(...group.map(({ low }) => low)),
    });
  }
  return bars;
}

const fundingRate = fc.constantFrom(-0.01, -0.0001, 0, 0.0001, 0.0001, 0.003);

function fundingOf(bars: readonly Bar[], rates: readonly number[], everyMs: number): FundingEvent[] {
  const from = (bars[0]?.time ?? 0) - everyMs;
  return rates.map((rate, i) => {
    const time = from + i * everyMs;
    const bar = bars.findLast((candidate) => candidate.time <= time) ?? (bars[0] as Bar);
    return { time, rate, mark: bar.open };
  });
}

const scale = fc.constantFrom(1e-7, 0.003, 1, 100, 100, 100, 60_000, 1e6);

function rarely<T>(rare: T, usual: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(rare) });
}

interface Shape {
  timeframeMinutes: number;
  detailMinutes: number | undefined;
  candles: number;
  /** With limit orders that wait, time out and are replaced. */
  hasOrders?: boolean;
  /** With additions to positions and partial exits. */
  adjusts?: boolean;
}

const factor = fc.constantFrom(1, 1, 0.9, 0.98, 0.99, 0.999, 1.001, 1.01, 1.02, 1.1);
const withoutStake = ({ addStake: _, ...answers }: OrderAnswers): OrderAnswers => answers;

const adjusted = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: factor },
);
const addStake = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.constantFrom(-0.3, -0.5, -1, -2, 0.1, 0.5, 1, 3) },
);
const orderAnswers: fc.Arbitrary<OrderAnswers> = fc.record({
  addStake,
  entry: factor,
  exit: fc.constantFrom(1, 0.7, 0.9, 0.97, 0.99, 1.01, 1.03, 1.1, 1.3),
  cancelEntry: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 9),
  cancelExit: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 9),
  adjustEntry: adjusted,
  adjustExit: adjusted,
});

function market(pair: string, shape: Shape): fc.Arbitrary<Market> {
  const { timeframeMinutes, detailMinutes, candles, hasOrders } = shape;
  const fineMinutes = detailMinutes ?? timeframeMinutes;
  const count = timeframeMinutes / fineMinutes;
  return fc
    .record({
      steps: fc.array(step, { minLength: count, maxLength: candles * count, size: 'max' }),
      late: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(6) }),
      price: scale,
      stops: fc.array(fc.constantFrom(undefined, undefined, 0.005, 0.01, 0.05, 0.2, 0.5), {
        minLength: 1,
        maxLength: 7,
      }),
      answers: fc.array(shape.adjusts ? orderAnswers : orderAnswers.map(withoutStake), {
        minLength: 1,
        maxLength: 11,
      }),
      wildness: fc.constantFrom(1, 1, 0.3, 0.1, 0.01),
      // Only every n-th candle may have signals.
      talk: fc.constantFrom(1, 1, 3, 11),
      rates: fc.oneof(fc.constant([]), fc.array(fundingRate, { maxLength: 2 * candles })),
      fundingEvery: fc.constantFrom(timeframeMinutes, timeframeMinutes * 4, 25),
      // Missing detail candles: every n-th one, or all after some row.
      missing: fc.oneof(
        { weight: 2, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 2, max: 9 }) },
      ),
    })
    .map(({ steps, late, price, stops, answers, wildness, talk, rates, fundingEvery, missing }) => {
      const stepMs = timeframeMinutes * MINUTE;
      const from = Math.ceil(START / stepMs) * stepMs + late * stepMs;
      const fine = barsOf(steps, from, fineMinutes * MINUTE, price, wildness);
      const bars = aggregate(fine, count);
      const there = fine.filter((_, i) => missing === 0 || Math.floor(i / 3) % missing !== 1);
      return {
        pair,
        bars,
        signals: bars.map((_, i) => (i % talk === 0 ? signalsOf(steps[i] as Step) : NO_SIGNALS)),
        customStop: bars.map((_, i) => stops[i % stops.length]),
        ...(hasOrders && { orders: bars.map((_, i) => answers[i % answers.length] as OrderAnswers) }),
        funding: fundingOf(bars, rates, fundingEvery * MINUTE),
        detail: detailMinutes === undefined ? [] : there,
      };
    });
}

const trailing: fc.Arbitrary<Trailing | undefined> = fc.option(
  fc
    .record({
      positive: fc.option(fc.constantFrom(0.005, 0.01, 0.02, 0.1), { nil: undefined }),
      offset: fc.constantFrom(0, 0, 0.01, 0.03, 0.1),
      onlyOffset: fc.boolean(),
    })
    .map((drawn) => ({ ...drawn, onlyOffset: drawn.onlyOffset && drawn.offset > 0 })),
  { nil: undefined },
);

const roi = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(0, 0, 1, 15, 45, 60, 90, 120, 240, 500),
    fc.constantFrom(-1, -0.02, 0, 0.005, 0.01, 0.03, 0.1, 0.5),
  ),
  { maxLength: 4, selector: ([minutes]) => minutes },
);

const timeout = fc.constantFrom(10, 60, 61, 150, 10_000);

function rulesOf(shape: Shape): fc.Arbitrary<Rules> {
  const drawn = fc.record({
    timeframeMinutes: fc.constant(shape.timeframeMinutes),
    detailMinutes: fc.constant(shape.detailMinutes),
    wallet: fc.constantFrom(1000, 1000, 137.5, 1e6),
    stake: fc.oneof(fc.constantFrom(100, 250, 333.3, 990, 330, 110), fc.constant('unlimited' as const)),
    tradableBalanceRatio: fc.constantFrom(0.99, 0.99, 1, 0.5),
    maxOpenTrades: fc.constantFrom(1, 1, 2, 3, 10, Number.POSITIVE_INFINITY),
    fee: fc.constantFrom(0, 0.0005, 0.0005, 0.001, 0.01),
    slippage: fc.constantFrom(0, 0, 0, 0.0005, 0.01),
    leverage: fc.constantFrom(1, 1, 1, 2, 3, 10, 50),
    canShort: rarely(false, true),
    maintenanceRate: fc.constant(0.005),
    liquidationBuffer: fc.constantFrom(0.05, 0.05, 0, 0.2),
    stoploss: fc.constantFrom(0.005, 0.02, 0.05, 0.1, 0.1, 0.3, 0.99),
    trailing,
    roi,
    useExitSignal: rarely(false, true),
    exitProfitOnly: fc.boolean(),
    exitProfitOffset: fc.constantFrom(0, 0, 0.01, -0.01),
    ignoreRoiIfEntrySignal: fc.boolean(),
    hasCustomStop: rarely(true, false),
    // Few other exits: those of a limit order then wait.
    ...(shape.hasOrders && {
      ...(shape.adjusts && { maxAdjustments: fc.constantFrom(0, 1, 3, 100) }),
      entryTimeout: timeout,
      exitTimeout: timeout,
      useExitSignal: fc.constant(true),
      exitProfitOnly: fc.constant(false),
      stoploss: fc.constantFrom(0.1, 0.3, 0.99),
      roi: rarely([[60, 0.03]] as const, []),
      leverage: fc.constantFrom(1, 1, 1, 3),
    }),
  });
  // An unlimited stake is divided by the number of slots, so that must be finite.
  return drawn.filter(({ stake, maxOpenTrades }) => stake !== 'unlimited' || Number.isFinite(maxOpenTrades));
}

const PAIRS = ['A/USDT:USDT', 'B/USDT:USDT', 'C/USDT:USDT', 'D/USDT:USDT'];

function caseOf(shape: Shape, pairs: number): fc.Arbitrary<Case> {
  return fc
    .record({
      markets: fc.tuple(...PAIRS.slice(0, pairs).map((pair) => market(pair, shape))),
      rules: rulesOf(shape),
    })
    .map(({ markets, rules }) => ({
      // Without the callback, its table must be absent.
      markets: rules.hasCustomStop ? markets : markets.map(({ customStop: _, ...market }) => market),
      rules,
    }));
}

/** One pair with many candles. */
export const onePair = caseOf({ timeframeMinutes: 60, detailMinutes: undefined, candles: 120 }, 1);

export const manyPairs = fc
  .tuple(fc.integer({ min: 2, max: 4 }), fc.constantFrom(5, 60, 1440))
  .chain(([pairs, timeframeMinutes]) =>
    caseOf({ timeframeMinutes, detailMinutes: undefined, candles: 50 }, pairs),
  );

export const withDetail = fc
  .integer({ min: 1, max: 3 })
  .chain((pairs) => caseOf({ timeframeMinutes: 60, detailMinutes: 15, candles: 20 }, pairs));

const ordersOf = (adjusts: boolean) =>
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom(undefined, undefined, 15))
    .chain(([pairs, detailMinutes]) => {
      const candles = detailMinutes ? 15 : 40;
      return caseOf({ timeframeMinutes: 60, detailMinutes, candles, hasOrders: true, adjusts }, pairs);
    });

/** Limit orders that wait, time out, are cancelled and replaced. */
export const withOrders = ordersOf(false);

/** The same with additions to positions and partial exits. */
export const withAdjustments = ordersOf(true);
