import { ATR, BollingerBands, EMA, MACD, RSI } from 'trading-signals';
import type { Candles } from '#engine/candles.ts';
import * as indicators from '#engine/indicators/index.ts';
import {
  exactAtr,
  exactEma,
  exactMacd,
  exactRsi,
  twoPassDeviation,
  worstError,
} from '../test/engine/indicators/reference.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { randomCandles } from './support/candles.ts';
import { median, time } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const { atr, bollinger, ema, macd, rsi } = indicators;
const LENGTH = scaled(1_000_000, 100_000);
const RUNS = scaled(11);
const WARM_UPS = scaled(3, 0);
const MAX_ERROR = 1e-12;

interface Contender {
  readonly label: string;
  /** Target: minimum speed as a multiple of trading-signals. */
  readonly atLeast: number;
  /** Writes into existing columns. */
  ours(): unknown;
  /** Allocates new columns. */
  allocating(): unknown;
  /** trading-signals, writing the same values into as many existing columns. */
  theirs(): unknown;
  /** Largest error relative to the exact value; for MACD relative to the price, because its lines cross zero. */
  error(): number;
}

async function measure(contender: Contender): Promise<Measurement[]> {
  const ours: number[] = [];
  const allocating: number[] = [];
  const theirs: number[] = [];
  for (let run = -WARM_UPS; run < RUNS; run++) {
    const times = [
      await time(contender.ours),
      await time(contender.allocating),
      await time(contender.theirs),
    ] as const;
    if (run < 0) continue;
    ours.push(times[0]);
    allocating.push(times[1]);
    theirs.push(times[2]);
  }
  const detail =
    `${median(ours).toFixed(2)} ms (${median(allocating).toFixed(2)} ms with new columns), ` +
    `trading-signals ${median(theirs).toFixed(1)} ms`;
  return [
    {
      label: `${contender.label}, speed`,
      value: median(theirs) / median(ours),
      unit: 'x trading-signals',
      target: { atLeast: contender.atLeast },
      detail,
    },
    {
      label: `${contender.label}, error`,
      value: contender.error(),
      unit: 'relative',
      target: { atMost: MAX_ERROR },
      detail: `largest over ${LENGTH} values`,
    },
  ];
}

function emaContender({ close }: Candles): Contender {
  const out = new Float64Array(LENGTH);
  return {
    label: 'EMA 20',
    atLeast: 1.6,
    ours: () => ema(close, 20, out),
    allocating: () => ema(close, 20),
    theirs: () => {
      const reference = new EMA(20);
      for (let i = 0; i < LENGTH; i++) out[i] = reference.add(close[i]!) ?? Number.NaN;
    },
    error: () => worstError(ema(close, 20), exactEma(close, 20)),
  };
}

function rsiContender({ close }: Candles): Contender {
  const out = new Float64Array(LENGTH);
  return {
    label: 'RSI 14',
    atLeast: 8,
    ours: () => rsi(close, 14, out),
    allocating: () => rsi(close, 14),
    theirs: () => {
      const reference = new RSI(14);
      for (let i = 0; i < LENGTH; i++) out[i] = reference.add(close[i]!) ?? Number.NaN;
    },
    error: () => worstError(rsi(close, 14), exactRsi(close, 14)),
  };
}

function macdContender({ close }: Candles): Contender {
  const out: indicators.Macd = {
    macd: new Float64Array(LENGTH),
    signal: new Float64Array(LENGTH),
    histogram: new Float64Array(LENGTH),
  };
  return {
    label: 'MACD 12/26/9',
    atLeast: 5,
    ours: () => macd(close, 12, 26, 9, out),
    allocating: () => macd(close, 12, 26, 9),
    theirs: () => {
      const reference = new MACD(new EMA(12), new EMA(26), new EMA(9));
      for (let i = 0; i < LENGTH; i++) {
        const result = reference.add(close[i]!);
        out.macd[i] = result?.macd ?? Number.NaN;
        out.signal[i] = result?.signal ?? Number.NaN;
        out.histogram[i] = result?.histogram ?? Number.NaN;
      }
    },
    error: () => {
      const exact = exactMacd(close, 12, 26, 9);
      const actual = macd(close, 12, 26, 9);
      return Math.max(
        worstError(actual.macd, exact.macd, close),
        worstError(actual.signal, exact.signal, close),
        worstError(actual.histogram, exact.histogram, close),
      );
    },
  };
}

function bollingerContender({ close }: Candles): Contender {
  const out: indicators.Bands = {
    upper: new Float64Array(LENGTH),
    middle: new Float64Array(LENGTH),
    lower: new Float64Array(LENGTH),
  };
  return {
    label: 'Bollinger 20, 2',
    atLeast: 20,
    ours: () => bollinger(close, 20, 2, out),
    allocating: () => bollinger(close, 20, 2),
    theirs: () => {
      const reference = new BollingerBands(20, 2);
      for (let i = 0; i < LENGTH; i++) {
        const result = reference.add(close[i]!);
        out.upper[i] = result?.upper ?? Number.NaN;
        out.middle[i] = result?.middle ?? Number.NaN;
        out.lower[i] = result?.lower ?? Number.NaN;
      }
    },
    error: () => {
      const { mean, deviation } = twoPassDeviation(close, 20);
      const actual = bollinger(close, 20, 2);
      return Math.max(
        worstError(actual.middle, mean),
        worstError(
          actual.upper,
          mean.map((value, i) => value + 2 * deviation[i]!),
        ),
        worstError(
          actual.lower,
          mean.map((value, i) => value - 2 * deviation[i]!),
        ),
      );
    },
  };
}

function atrContender(candles: Candles): Contender {
  const { high, low, close } = candles;
  const out = new Float64Array(LENGTH);
  return {
    label: 'ATR 14',
    atLeast: 8,
    ours: () => atr(candles, 14, out),
    allocating: () => atr(candles, 14),
    theirs: () => {
      const reference = new ATR(14);
      for (let i = 0; i < LENGTH; i++) {
        out[i] = reference.add({ high: high[i]!, low: low[i]!, close: close[i]! }) ?? Number.NaN;
      }
    },
    error: () => worstError(atr(candles, 14), exactAtr(candles, 14)),
  };
}

/** Indicators that trading-signals does not have, or not with TA-Lib's values. */
const FURTHER: Readonly<Record<string, (candles: Candles) => unknown>> = {
  accumulationDistribution: (c) => indicators.accumulationDistribution(c),
  adxr: (c) => indicators.adxr(c, 14),
  apo: ({ close }) => indicators.apo(close),
  aroon: (c) => indicators.aroon(c, 14),
  balanceOfPower: (c) => indicators.balanceOfPower(c),
  beta: ({ close, high }) => indicators.beta(close, high, 20),
  chaikinOscillator: (c) => indicators.chaikinOscillator(c),
  chandeMomentum: ({ close }) => indicators.chandeMomentum(close, 14),
  correlation: ({ close, volume }) => indicators.correlation(close, volume, 20),
  cyclePeriod: ({ close }) => indicators.cyclePeriod(close),
  cycleSine: ({ close }) => indicators.cycleSine(close),
  directionalMovement: (c) => indicators.directionalMovement(c, 14),
  kama: ({ close }) => indicators.kama(close, 10),
  linearRegression: ({ close }) => indicators.linearRegression(close, 14),
  linearRegressionAngle: ({ close }) => indicators.linearRegressionAngle(close, 14),
  mama: ({ close }) => indicators.mama(close),
  midpoint: ({ close }) => indicators.midpoint(close, 14),
  natr: (c) => indicators.natr(c, 14),
  parabolicSar: (c) => indicators.parabolicSar(c),
  stochasticRsi: ({ close }) => indicators.stochasticRsi(close, 14),
  t3: ({ close }) => indicators.t3(close, 5),
  trendMode: ({ close }) => indicators.trendMode(close),
  trima: ({ close }) => indicators.trima(close, 12),
  trix: ({ close }) => indicators.trix(close, 8),
  ultimateOscillator: (c) => indicators.ultimateOscillator(c),
  variance: ({ close }) => indicators.variance(close, 10),
};

/** Runs of each further indicator. */
const FEW_RUNS = scaled(3);

/** Their times as multiples of an EMA's, with new columns. */
async function measureFurther(candles: Candles): Promise<Measurement[]> {
  const timeOf = async (run: () => unknown) => {
    const times: number[] = [];
    for (let n = -1; n < FEW_RUNS; n++) times.push(await time(run));
    return median(times.slice(1));
  };
  const base = await timeOf(() => ema(candles.close, 20));
  const ratios: (readonly [name: string, ratio: number])[] = [];
  for (const [name, run] of Object.entries(FURTHER))
    ratios.push([name, (await timeOf(() => run(candles))) / base]);
  ratios.sort(([, a], [, b]) => b - a);
  const slowest = ratios.slice(0, 5).map(([name, ratio]) => `${name} ${ratio.toFixed(1)}`);
  const long = await timeOf(() => indicators.correlation(candles.close, candles.volume, 2_000));
  const short = await timeOf(() => indicators.correlation(candles.close, candles.volume, 20));
  return [
    {
      label: `${ratios.length} further indicators`,
      value: median(ratios.map(([, ratio]) => ratio)),
      unit: 'x EMA 20',
      detail: `median of all, EMA 20 ${base.toFixed(2)} ms with a new column; slowest ${slowest.join(', ')}`,
    },
    {
      label: 'correlation, period 2,000',
      value: long / short,
      unit: 'x period 20',
      target: { atMost: 1.5 },
      detail: `${long.toFixed(1)} ms`,
    },
  ];
}

const bench: Bench = {
  name: 'indicators',
  description: `indicators over ${LENGTH} values: five against trading-signals 8.3.0 (medians of ${RUNS}, in turns), the further ones of TA-Lib against an EMA`,
  async run() {
    const candles = randomCandles(7, LENGTH, '1m');
    const measurements: Measurement[] = [];
    for (const contender of [
      emaContender(candles),
      rsiContender(candles),
      macdContender(candles),
      bollingerContender(candles),
      atrContender(candles),
    ]) {
      measurements.push(...(await measure(contender)));
    }
    measurements.push(...(await measureFurther(candles)));
    return measurements;
  },
};

export default bench;
