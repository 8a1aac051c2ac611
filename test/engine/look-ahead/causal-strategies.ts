import { crossedAbove, crossedBelow, ema, onTimeframe, sma, where } from '#engine/indicators/index.ts';
import { bollingerBreakout } from '#engine/strategies/bollinger-breakout.ts';
import { buyAndHold } from '#engine/strategies/buy-and-hold.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { supertrendFollower } from '#engine/strategies/supertrend.ts';
import { sound } from './crossing-fixture.ts';
import type { Define } from './leaking-strategies.ts';

/** Running values of a column: each row from the rows up to it. */
function running(
  values: Float64Array,
  next: (before: number, value: number, row: number) => number,
): Float64Array {
  let before = Number.NaN;
  return values.map((value, row) => {
    before = row === 0 ? value : next(before, value, row);
    return before;
  });
}

/** A price on a tick, so that prices and their averages are often equal. */
const tick = (price: number) => Math.ceil(price * 4) / 4;

/** Moving average of 20 rows by Fourier transforms over all rows: causal, with rounding that depends on their number. */
function convolved(values: Float64Array): Float64Array {
  let size = 1;
  while (size < values.length + 20) size *= 2;
  const [re, im] = [new Float64Array(size), new Float64Array(size)];
  const [kr, ki] = [new Float64Array(size), new Float64Array(size)];
  re.set(values);
  kr.fill(1 / 20, 0, 20);
  transform(re, im, 1);
  transform(kr, ki, 1);
  for (let k = 0; k < size; k++) {
    const [a, b, c, d] = [re[k]!, im[k]!, kr[k]!, ki[k]!];
    re[k] = a * c - b * d;
    im[k] = a * d + b * c;
  }
  transform(re, im, -1);
  return values.map((_, row) => re[row]! / size);
}

function transform(re: Float64Array, im: Float64Array, sign: number): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j]!, re[i]!];
      [im[i], im[j]] = [im[j]!, im[i]!];
    }
  }
  for (let half = 1; half < n; half *= 2) {
    for (let start = 0; start < n; start += 2 * half) {
      for (let k = 0; k < half; k++) {
        const angle = (sign * Math.PI * k) / half;
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        const [a, b] = [start + k, start + k + half];
        const [xr, xi] = [re[b]! * c - im[b]! * s, re[b]! * s + im[b]! * c];
        [re[b], im[b]] = [re[a]! - xr, im[a]! - xi];
        [re[a], im[a]] = [re[a]! + xr, im[a]! + xi];
      }
    }
  }
}

/** Strategies that use the past only, in ways that a search could mistake. */
export const CAUSAL: Readonly<Record<string, Define>> = {
  'an expanding maximum': () =>
    sound({
      indicators: ({ close }) => ({ top: running(close, Math.max) }),
      signals: ({ close }, { top }) => ({
        enterLong: where(close.length, (row) => close[row]! < 0.98 * top![row]!),
        exitLong: where(close.length, (row) => close[row]! > 0.99 * top![row]!),
      }),
    }),
  'a z-score of past rows': () =>
    sound({
      indicators: ({ close }) => {
        const squares = close.map((price) => price * price);
        const [mean, square] = [sma(close, 20), sma(squares, 20)];
        return {
          z: close.map((price, row) => (price - mean[row]!) / Math.sqrt(square[row]! - mean[row]! ** 2)),
        };
      },
      signals: ({ close }, { z }) => ({
        enterLong: where(close.length, (row) => z![row]! < -1),
        exitLong: where(close.length, (row) => z![row]! > 1),
      }),
    }),
  'columns of resampled candles': () =>
    sound({
      indicators: (candles) => onTimeframe(candles, '7h', ({ close }) => ({ slow: sma(close, 2) })),
      signals: ({ close }, { slow }) => ({
        enterLong: crossedAbove(close, slow!),
        exitLong: crossedBelow(close, slow!),
      }),
    }),
  'an expanding mean': () =>
    sound({
      indicators: ({ close }) => ({
        mean: running(close, (before, price, row) => before + (price - before) / (row + 1)),
      }),
      signals: ({ close }, { mean }) => ({
        enterLong: crossedBelow(close, mean!),
        exitLong: crossedAbove(close, mean!),
      }),
    }),
  'a convolution by Fourier transforms, on prices with ties': () =>
    sound({
      indicators: ({ close }) => ({ average: convolved(close.map((price) => tick(price))) }),
      signals: ({ close }, { average }) => ({
        enterLong: where(close.length, (row) => tick(close[row]!) > average![row]!),
        exitLong: where(close.length, (row) => tick(close[row]!) < average![row]!),
      }),
    }),
  'the same convolution in callbacks': () =>
    sound({
      indicators: ({ close }) => ({ average: convolved(close.map((price) => tick(price))) }),
      signals: ({ close }, { average }) => ({
        enterLong: where(close.length, (row) => tick(close[row]!) > average![row]!),
      }),
      callbacks: {
        customStake: ({ columns, candles, index }, _side, stake) =>
          stake * Math.min(1, columns.average![index - 1]! / candles.close[index - 1]!),
        customExit: ({ columns, candles, index }) =>
          tick(candles.close[index - 1]!) < columns.average![index - 1]! ? 'below' : null,
      },
    }),
  'data of trades and state of the run': () =>
    sound({
      callbacks: {
        loopStart: ({ pairs, state }) =>
          state.set(
            'up',
            pairs.filter(({ candles: { close }, index }) => close[index - 1]! > close[index - 2]!).length,
          ),
        orderFilled: ({ state }, { data }) => data.set('up', state.get('up')),
        confirmEntry: ({ state }) => state.get<number>('up')! > 0,
        customExit: ({ state }, { data }) =>
          state.get<number>('up')! < (data.get<number>('up') ?? 0) - 1 ? 'down' : null,
      },
    }),
  'module variables of each pair': () => {
    const exits = new Map<string, number>();
    let losses = 0;
    return sound({
      callbacks: {
        confirmEntry: ({ pair, time }) => time - (exits.get(pair) ?? 0) > 4 * 3_600_000 && losses < 1_000,
        confirmExit: ({ pair, time }, { entryPrice }, price) => {
          exits.set(pair, time);
          if (price < entryPrice) losses++;
          return true;
        },
      },
    });
  },
  'kept arrays that are read in known rows': () => {
    const kept = new Map<string, Float64Array>();
    return sound({
      indicators: ({ close, open }, _params, { pair }) => {
        kept.set(pair, close);
        kept.set(`${pair} open`, open);
        return { average: sma(close, 20) };
      },
      callbacks: {
        customExit: ({ pair, index }, _trade, price) =>
          kept.get(pair)![20 + index - 1]! < price * 0.99 && kept.get(`${pair} open`)![20 + index]! === price
            ? 'fell'
            : null,
      },
    });
  },
  'columns that are computed once per pair': () => {
    const known = new Map<string, Float64Array>();
    return sound({
      indicators: ({ close }, _params, { pair }) => {
        const average = known.get(pair) ?? sma(close, 20);
        known.set(pair, average);
        return { average };
      },
    });
  },
  'closed 4h candles': () =>
    sound({
      informativeTimeframes: ['4h'],
      signals: ({ close }, _columns, _params, informative) => ({
        enterLong: crossedAbove(close, informative['4h']!.average!),
        exitLong: crossedBelow(close, informative['4h']!.average!),
      }),
    }),
  'closed candles of another pair': () => {
    const closes: Float64Array[] = [];
    return sound({
      indicators: ({ close }) => {
        closes.push(close);
        return { average: sma(close, 20) };
      },
      signals: ({ close }, { average }) => ({
        enterLong: where(
          close.length,
          (row) => close[row]! > average![row]! && closes[0]![row]! > closes[0]![row - 1]!,
        ),
        exitLong: crossedBelow(close, average!),
      }),
    });
  },
  'the past rows of whole columns': () =>
    sound({
      callbacks: {
        customExit: ({ candles, index }, _trade, price) =>
          price < Math.min(...candles.low.slice(Math.max(0, index - 10), index)) ? 'new low' : null,
        customEntryPrice: ({ candles, index }, side, price) =>
          side === 'long' ? (candles.close[index - 1]! + candles.open[index]!) / 2 : price,
        customStoploss: ({ columns, index }, _trade, best) =>
          Math.max(0.01, 1 - columns.average![index - 1]! / best),
      },
    }),
  'an average over the past of a column': () =>
    sound({
      callbacks: {
        customExit: ({ candles, index }, _trade, price) => {
          if (index % 50 !== 0) return null;
          return ema(candles.close.slice(0, index), 5)[index - 1]! > price ? 'below' : null;
        },
      },
    }),
  'a strategy that trades once': () => buyAndHold,
  'crossings of averages': () => emaCrossover,
  breakouts: () => bollingerBreakout,
  supertrend: () => supertrendFollower,
};
