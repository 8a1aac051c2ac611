import fc from 'fast-check';
import { createCandles } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import { createRandom, type Random } from '#engine/random.ts';
import type { FundingEvents, PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import type { Signals } from '#engine/strategy.ts';

/** Long series go on into another month. */
const START = Date.UTC(2024, 0, 31, 8);
const NEXT_MONTH = Date.UTC(2024, 1, 1);
const MINUTE = 60_000;
const TIMEFRAME_MS = 5 * MINUTE;

/** One random simulation: everything the rules can depend on. */
export interface KernelCase {
  readonly input: PairInput;
  readonly settings: SimulationSettings;
}

interface MarketShape {
  readonly seed: number;
  readonly length: number;
  /** Standard deviation of a candle's return. */
  readonly volatility: number;
  /** Share of candles that open away from the previous close. */
  readonly gaps: number;
  /** Prices are multiples of it, so that a coarse one makes prices meet stops and targets exactly. */
  readonly tick: number;
  /** Ticks of the second month in one of the first: prices of the second may lie between those that a trade can name. */
  readonly coarser: number;
  /** Share of rows with each signal. */
  readonly density: number;
  /** Share of candles at which a funding event happens; 0 for a pair without funding. */
  readonly funding: number;
  readonly instrument: Instrument | null;
}

const instrument: fc.Arbitrary<Instrument | null> = fc.option(
  fc.record({
    amountStep: fc.constantFrom(null, 1e-4, 0.1, 1),
    minAmount: fc.constantFrom(null, 0.2),
    maxAmount: fc.constantFrom(null, 5),
    minCost: fc.constantFrom(null, 5, 90, 200),
    maxCost: fc.constantFrom(null, 80, 1000),
    contractSize: fc.constantFrom(1, 0.5),
    priceTick: fc.constantFrom(null, 0.5, 2),
  }),
  { nil: null },
);

const marketShape: fc.Arbitrary<MarketShape> = fc.record({
  seed: fc.nat(),
  length: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 100, max: 700 })),
  volatility: fc.constantFrom(0, 0.002, 0.01, 0.03),
  gaps: fc.constantFrom(0, 0.1, 0.6),
  tick: fc.constantFrom(1e-6, 0.01, 0.5, 1),
  coarser: fc.constantFrom(1, 10),
  density: fc.constantFrom(0.005, 0.05, 0.4),
  funding: fc.constantFrom(0, 0, 0.02, 0.3),
  instrument,
});

const roiTable = fc.option(
  fc.dictionary(
    fc.constantFrom('0', '3', '5', '10', '12', '25', '60', '90', '240'),
    fc.constantFrom(-1, -0.01, 0, 0.002, 0.01, 0.02, 0.05, 0.1),
    { maxKeys: 4 },
  ),
  { nil: undefined },
);

const trailing = fc.option(
  fc.record(
    {
      positive: fc.constantFrom(0.002, 0.01, 0.05),
      offset: fc.constantFrom(0.005, 0.02, 0.06),
      only_offset_is_reached: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);

const settings = fc
  .record({
    startingBalance: fc.constantFrom(1000, 150),
    stake: fc.constantFrom(
      { kind: 'fixed', amount: 100 } as const,
      { kind: 'fixed', amount: 990 } as const,
      { kind: 'unlimited' } as const,
    ),
    tradableBalanceRatio: fc.constantFrom(0.99, 1, 0.5),
    amendLastStakeAmount: fc.boolean(),
    maxOpenTrades: fc.constantFrom(1, 3),
    fee: fc.constantFrom(0, 0.0005, 0.01),
    slippage: fc.constantFrom(0, 0, 0.0007),
    leverage: fc.constantFrom(1, 1, 3, 25),
    unfilledTimeoutMinutes: fc.constantFrom(5, 10, 60),
    canShort: fc.boolean(),
    stoploss: fc.constantFrom(-0.005, -0.02, -0.1, -0.5, -0.99),
    trailing,
    minimalRoi: roiTable,
    useExitSignal: fc.constantFrom(true, true, false),
    exitProfitOnly: fc.boolean(),
    exitProfitOffset: fc.constantFrom(0, 0.01),
    ignoreRoiIfEntrySignal: fc.boolean(),
    fillModel: fc.constantFrom('freqtrade', 'conservative'),
    liquidation: fc.constant({ maintenanceMarginRate: 0.005, buffer: 0.05 }),
  })
  .map((chosen) => ({ ...chosen, timeframeMs: TIMEFRAME_MS }) as SimulationSettings);

export const kernelCase: fc.Arbitrary<KernelCase> = fc
  .tuple(marketShape, settings)
  .map(([shape, chosen]) => ({ input: pairOfShape(shape), settings: chosen }));

function pairOfShape(shape: MarketShape): PairInput {
  const random = createRandom(shape.seed);
  const candles = candlesOfShape(shape, random);
  const pair = 'BTC/USDT:USDT';
  const signals = signalsOfShape(shape, random);
  const funding = fundingOfShape(shape, random);
  const { instrument } = shape;
  return { pair, candles, signals, ...(funding && { funding }), ...(instrument && { instrument }) };
}

function candlesOfShape({ length, volatility, gaps, tick, coarser }: MarketShape, random: Random) {
  const candles = createCandles(length);
  const move = () => 1 + volatility * (2 * (random() + random() + random()) - 3);
  let step = tick * coarser;
  const digits = 1e6;
  const onTick = (price: number) =>
    Math.max(step, Math.round(Math.round(price / step) * step * digits) / digits);
  let price = 100;
  for (let row = 0; row < length; row++) {
    step = START + row * TIMEFRAME_MS < NEXT_MONTH ? tick * coarser : tick;
    const open = onTick(random() < gaps ? price * move() : price);
    const close = onTick(open * move());
    candles.timestamp[row] = START + row * TIMEFRAME_MS;
    candles.open[row] = open;
    candles.high[row] = Math.max(open, close, onTick(open * move()));
    candles.low[row] = Math.min(open, close, onTick(open * move()));
    candles.close[row] = close;
    candles.volume[row] = 1;
    // The walk may not die at the smallest price.
    price = close < 20 ? 100 : close;
  }
  return candles;
}

function signalsOfShape({ length, density }: MarketShape, random: Random): Signals {
  // 2 is not a signal, although it is not 0 either.
  const column = () =>
    Uint8Array.from({ length }, () => (random() < density ? 1 : random() < density / 4 ? 2 : 0));
  const tags = () => Uint8Array.from({ length }, () => Math.floor(random() * 3));
  // A view that begins inside its buffer, as signals do whose startup rows are cut off.
  const offset = (values: Uint8Array) => {
    const start = 1 + Math.floor(random() * 11);
    const buffer = new Uint8Array(length + start).fill(1);
    buffer.set(values, start);
    return buffer.subarray(start);
  };
  const sometimes = (values: Uint8Array) => (random() < 0.15 ? undefined : offset(values));
  return {
    enterLong: sometimes(column()),
    exitLong: sometimes(column()),
    enterShort: sometimes(column()),
    exitShort: sometimes(column()),
    ...(random() < 0.5 && { enterTag: tags(), exitTag: tags(), tags: ['', 'first', 'second'] }),
  } as Signals;
}

function fundingOfShape({ length, funding }: MarketShape, random: Random): FundingEvents | null {
  if (funding === 0) return null;
  // Some events lie before, after and between candles, and several may come in one.
  const times: number[] = [START - TIMEFRAME_MS];
  for (let row = 0; row < length + 2; row++)
    while (random() < funding) times.push(START + row * TIMEFRAME_MS + (random() < 0.5 ? 0 : MINUTE));
  times.sort((a, b) => a - b);
  return {
    timestamp: Float64Array.from(times),
    rate: Float64Array.from(times, () => 0.01 * (random() - 0.5)),
    markPrice: Float64Array.from(times, () => 90 + 20 * random()),
  };
}
