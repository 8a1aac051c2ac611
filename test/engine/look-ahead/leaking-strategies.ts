import type { Candles } from '#engine/candles.ts';
import {
  allOf,
  crossedAbove,
  crossedBelow,
  ema,
  sma,
  standardDeviation,
  where,
} from '#engine/indicators/index.ts';
import type { CallbackContext, StrategyCallbacks, StrategyDefinition } from '#engine/strategy.ts';
import { sound } from './crossing-fixture.ts';

/** A strategy that is defined again for every load, as a file is evaluated again. */
export type Define = () => StrategyDefinition;

/** Crosses of the close and `line`. */
const crossing =
  (line: (candles: Candles) => Float64Array): Define =>
  () =>
    sound({
      indicators: (candles) => ({ line: line(candles) }),
      signals: ({ close }, { line: values }) => crossesOf(close, values!),
    });

function crossesOf(close: Float64Array, line: Float64Array) {
  return {
    enterLong: crossedAbove(close, line),
    exitLong: crossedBelow(close, line),
  };
}

const acting =
  (callbacks: StrategyCallbacks): Define =>
  () =>
    sound({ callbacks });

/** Callbacks that use what `indicators` kept of each pair. `startup` rows precede those that callbacks see. */
const keeping =
  <T>(
    keep: (candles: Candles) => T,
    use: (kept: (pair: string) => T, startup: number) => StrategyCallbacks,
  ): Define =>
  () => {
    const kept = new Map<string, T>();
    return sound({
      indicators: (candles, _params, { pair }) => {
        kept.set(pair, keep(candles));
        return { average: sma(candles.close, 20) };
      },
      callbacks: use((pair) => kept.get(pair)!, 20),
    });
  };

const mean = (values: ArrayLike<number>) =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
const largest = (values: Float64Array) => values.reduce((best, value) => Math.max(best, value), 0);
const smallest = (values: Float64Array) =>
  values.reduce((best, value) => Math.min(best, value), Number.POSITIVE_INFINITY);

/** Each value that is missing is that of the next row that has one. */
function backfilled(column: Float64Array): Float64Array {
  const filled = column.slice();
  for (let row = filled.length - 2; row >= 0; row--)
    if (Number.isNaN(filled[row]!)) filled[row] = filled[row + 1]!;
  return filled;
}

const lastOf = ({ candles }: CallbackContext) => Array.prototype.at.call(candles.close, -1) as number;

/** Strategies that use candles before they are known, by what they do. */
export const LEAKS: Readonly<Record<string, Define>> = {
  'close averaged over five rows before and after': crossing(({ close }) =>
    close.map((_, row) => mean(close.subarray(Math.max(0, row - 5), row + 6))),
  ),
  'backfilled values of every sixth row': crossing(({ close }) =>
    backfilled(close.map((price, row) => (row % 6 === 0 ? price : Number.NaN))),
  ),
  'backfilled pivots': crossing(({ high, low }) =>
    backfilled(high.map((price, row) => (row % 24 === 23 ? (price + low[row]!) / 2 : Number.NaN))),
  ),
  'the next close': crossing(({ close }) => close.map((_, row) => close[row + 1] ?? Number.NaN)),
  'the next open': () =>
    sound({
      signals: ({ open }, { average }) =>
        crossesOf(
          open.map((_, row) => open[row + 1] ?? Number.NaN),
          average!,
        ),
    }),
  'a column shifted by a negative number': crossing(({ close }) => {
    const average = sma(close, 20);
    return average.map((_, row) => average[row + 3] ?? Number.NaN);
  }),
  'the largest close of the whole series': () =>
    sound({
      indicators: ({ close }) => ({ top: new Float64Array(close.length).fill(largest(close)) }),
      signals: ({ close }, { top }) => ({
        enterLong: where(close.length, (row) => close[row]! < 0.97 * top![row]!),
        exitLong: where(close.length, (row) => close[row]! > 0.99 * top![row]!),
      }),
    }),
  'the largest close of the whole series, in signals only': () =>
    sound({
      signals: ({ close }, { average }) => {
        const top = largest(close);
        const crosses = crossesOf(close, average!);
        return {
          ...crosses,
          enterLong: allOf(
            crosses.enterLong,
            where(close.length, (row) => close[row]! < 0.5 * top),
          ),
        };
      },
    }),
  'a z-score by the mean of the whole series': () =>
    sound({
      indicators: ({ close }) => {
        const center = mean(close);
        const deviation = Math.sqrt(mean(close.map((price) => (price - center) ** 2)));
        return { z: close.map((price) => (price - center) / deviation) };
      },
      signals: ({ close }, { z }) => ({
        enterLong: where(close.length, (row) => z![row]! < -0.5),
        exitLong: where(close.length, (row) => z![row]! > 0),
      }),
    }),
  'a scale from the lowest to the highest price of the series': () =>
    sound({
      indicators: ({ close }) => {
        const [low, high] = [smallest(close), largest(close)];
        return { share: close.map((price) => (price - low) / (high - low)) };
      },
      signals: ({ close }, { share }) => ({
        enterLong: where(close.length, (row) => share![row]! < 0.3),
        exitLong: where(close.length, (row) => share![row]! > 0.5),
      }),
    }),
  'a quantile of the whole series': () =>
    sound({
      signals: ({ close }) => {
        const threshold = close.toSorted()[Math.floor(close.length / 4)]!;
        return {
          enterLong: where(close.length, (row) => close[row]! < threshold),
          exitLong: where(close.length, (row) => close[row]! > threshold * 1.1),
        };
      },
    }),
  'ranks among later values': () =>
    sound({
      indicators: ({ close }) => {
        const order = Array.from(close.keys()).sort((a, b) => close[a]! - close[b]!);
        const rank = new Float64Array(close.length);
        for (const [place, row] of order.entries()) rank[row] = place / close.length;
        return { rank };
      },
      signals: ({ close }, { rank }) => ({
        enterLong: where(close.length, (row) => rank![row]! < 0.2),
        exitLong: where(close.length, (row) => rank![row]! > 0.4),
      }),
    }),
  'lows that are the lowest of the next ten rows': () =>
    sound({
      signals: ({ low, high, close }) => ({
        enterLong: where(
          close.length,
          (row) => low[row]! <= smallest(low.subarray(Math.max(0, row - 10), row + 11)),
        ),
        exitLong: where(
          close.length,
          (row) => high[row]! >= largest(high.subarray(Math.max(0, row - 10), row + 11)),
        ),
      }),
    }),
  'a later maximum in a closure': () => {
    let rises: (row: number) => boolean;
    return sound({
      indicators: ({ close }) => {
        rises = (row) => largest(close.subarray(row + 1, row + 13)) > close[row]! * 1.02;
        return { average: sma(close, 20) };
      },
      signals: ({ close }, { average }) => {
        const crosses = crossesOf(close, average!);
        return {
          ...crosses,
          enterLong: allOf(
            crosses.enterLong,
            where(close.length, (row) => rises(row)),
          ),
        };
      },
    });
  },
  'a label of the next twelve candles': () =>
    sound({
      indicators: ({ close }) => ({
        label: close.map((price, row) => Number((close[row + 12] ?? price) > price)),
      }),
      signals: ({ close }, { label }) => ({
        enterLong: where(close.length, (row) => label![row] === 1),
        exitLong: where(close.length, (row) => label![row] === 0),
      }),
    }),
  'an average forwards and backwards': crossing(({ close }) => ema(ema(close, 10).reverse(), 10).reverse()),
  'a low-pass filter of the whole series': crossing(({ close }) => {
    // The first harmonics of all rows, as a filter in the frequency domain keeps them.
    const { length } = close;
    const smooth = new Float64Array(length).fill(mean(close));
    for (let k = 1; k <= 8; k++) {
      let [re, im] = [0, 0];
      for (let row = 0; row < length; row++) {
        re += close[row]! * Math.cos((2 * Math.PI * k * row) / length);
        im += close[row]! * Math.sin((2 * Math.PI * k * row) / length);
      }
      for (let row = 0; row < length; row++) {
        const angle = (2 * Math.PI * k * row) / length;
        smooth[row]! += (2 / length) * (re * Math.cos(angle) + im * Math.sin(angle));
      }
    }
    return smooth;
  }),
  'a trend line of the whole series': crossing(({ close }) => {
    const [rows, center] = [(close.length - 1) / 2, mean(close)];
    let [products, squares] = [0, 0];
    for (let row = 0; row < close.length; row++) {
      products += (row - rows) * (close[row]! - center);
      squares += (row - rows) ** 2;
    }
    return close.map((_, row) => center + (products / squares) * (row - rows));
  }),
  'the direction of the whole series': () =>
    sound({
      signals: ({ close }, { average }) => {
        const crosses = crossesOf(close, average!);
        const isUp = where(close.length, (row) => close[row]! < close.at(-1)!);
        return { ...crosses, enterLong: allOf(crosses.enterLong, isUp) };
      },
    }),
  'a 4h candle joined by its open time': () =>
    sound({
      signals: ({ close, timestamp }) => {
        const opened = (time: number) => Math.floor(time / 14_400_000) * 14_400_000;
        // The last close of each 4h candle.
        const last = new Map(Array.from(timestamp, (time, row) => [opened(time), close[row]!]));
        return crossesOf(
          close,
          timestamp.map((time) => last.get(opened(time))!),
        );
      },
    }),
  'an informative timeframe one row early': () =>
    sound({
      informativeTimeframes: ['4h'],
      signals: ({ close }, _columns, _params, informative) => {
        const { average } = informative['4h']!;
        return crossesOf(
          close,
          average!.map((_, row) => average![row + 1] ?? Number.NaN),
        );
      },
    }),
  'exits only where the next candle falls': () =>
    sound({
      signals: ({ close }, { average }) => ({
        enterLong: crossedAbove(close, average!),
        exitLong: where(close.length, (row) => (close[row + 1] ?? Number.NaN) < close[row]!),
      }),
    }),
  'a tag that tells the next candle': () =>
    sound({
      signals: ({ close }, { average }) => ({
        ...crossesOf(close, average!),
        enterTag: where(close.length, (row) => (close[row + 1] ?? 0) > close[row]!).map((up) => up + 1),
        tags: ['', 'down', 'up'],
      }),
    }),
  'the next close of another pair': () => {
    const closes: Float64Array[] = [];
    return sound({
      indicators: ({ close }) => {
        closes.push(close);
        return { average: sma(close, 20) };
      },
      signals: ({ close }, { average }) => {
        const crosses = crossesOf(close, average!);
        const first = closes[0]!;
        const rises = where(close.length, (row) => (first[row + 1] ?? Number.NaN) > first[row]!);
        return { ...crosses, enterLong: allOf(crosses.enterLong, rises) };
      },
    });
  },
  'the close of the forming candle': acting({
    customExit: ({ candles, index }, _trade, price) => (candles.close[index]! < price ? 'falls' : null),
  }),
  'a close three candles ahead': acting({
    customExit: ({ candles, index }, _trade, price) => (candles.close[index + 3]! < price ? 'falls' : null),
  }),
  'an indicator of the forming candle': acting({
    customExit: ({ columns, index }, _trade, price) => (columns.average![index]! > price ? 'below' : null),
  }),
  'an entry at the low of the forming candle': acting({
    customEntryPrice: ({ candles, index }, side, price) => (side === 'long' ? candles.low[index]! : price),
  }),
  'entries that are confirmed by the next close': acting({
    confirmEntry: ({ candles, index }, _side, price) => (candles.close[index + 1] ?? price) > price,
  }),
  'an array method of another prototype': acting({
    customExit: (context, _trade, price) => (lastOf(context) < price * 0.5 ? 'ends lower' : null),
  }),
  'a slice by the prototype of arrays': acting({
    customExit: ({ candles, index }, _trade, price) =>
      (Array.prototype.slice.call(candles.low, index, index + 6) as number[]).some(
        (low) => low < price * 0.99,
      )
        ? 'falls'
        : null,
  }),
  'the memory of a column': acting({
    customExit: ({ candles, index }, _trade, price) => {
      const { buffer, byteOffset } = candles.close;
      const ahead = new Float64Array(buffer, byteOffset + 8 * index);
      return (ahead[2] ?? price) < price ? 'falls' : null;
    },
  }),
  'the number of candles to come': acting({
    customExit: ({ candles, index }) => (index > candles.close.length / 2 ? 'second half' : null),
  }),
  'a stop by the lowest low to come': acting({
    customStoploss: ({ candles, index }, _trade, best) => {
      const low = smallest(candles.low.subarray(index, index + 24));
      return Number.isFinite(low) && low < best ? Math.max(0.001, 1 - low / best + 0.001) : null;
    },
  }),
  'data of the trade from the next candle': acting({
    orderFilled: ({ candles, index }, { data }) => data.set('next', candles.close[index + 1] ?? null),
    customExit: (_context, { data }, price) => (price > (data.get<number>('next') ?? 0) ? 'known' : null),
  }),
  'state from the forming candles of all pairs': acting({
    loopStart: ({ pairs, state }) =>
      state.set(
        'rising',
        pairs.filter(({ candles, index }) => candles.close[index]! > candles.open[index]!).length,
      ),
    confirmEntry: ({ state }) => state.get<number>('rising')! > 1,
  }),
  'a read that is tried and caught': acting({
    customExit: ({ candles, index }, _trade, price) => {
      try {
        return candles.close[index + 1]! < price ? 'falls' : null;
      } catch {
        return null;
      }
    },
  }),
  'close kept in indicators, read at the forming candle': keeping(
    ({ close }) => close,
    (kept, startup) => ({
      customExit: ({ pair, index }, _trade, price) => (kept(pair)[startup + index]! < price ? 'falls' : null),
    }),
  ),
  'close kept in indicators, as a price': keeping(
    ({ low }) => low,
    (kept, startup) => ({
      customEntryPrice: ({ pair, index }, side, price) =>
        side === 'long' ? kept(pair)[startup + index]! : price,
    }),
  ),
  'a copy of close kept in indicators': keeping(
    ({ close }) => close.slice(),
    (kept, startup) => ({
      customExit: ({ pair, index }, _trade, price) =>
        kept(pair)[startup + index + 1]! < price ? 'falls' : null,
    }),
  ),
  'the memory of close kept in indicators': keeping(
    ({ close }) => new Float64Array(close.buffer),
    (kept, startup) => ({
      customExit: ({ pair, index }, _trade, price) => (kept(pair)[startup + index]! < price ? 'falls' : null),
    }),
  ),
  'a column kept by its function': keeping(
    ({ close }) => close.map((price, row) => (close[row + 1] ?? price) / price),
    (kept, startup) => ({
      customStake: ({ pair, index }, _side, stake) => (kept(pair)[startup + index]! > 1 ? stake : stake / 4),
    }),
  ),
  'the largest close of indicators in a module variable': () => {
    let top = 0;
    return sound({
      indicators: ({ close }) => {
        for (const price of close) if (price > top) top = price;
        return { average: sma(close, 20) };
      },
      callbacks: { customExit: (_context, _trade, price) => (price > 0.9 * top ? 'top' : null) },
    });
  },
  'columns kept by signals': () => {
    const kept = new Map<string, Float64Array>();
    return sound({
      signals: ({ close }, { average }, _params, _informative, { pair }) => {
        kept.set(pair, average!);
        return crossesOf(close, average!);
      },
      callbacks: {
        customExit: ({ pair, index }, _trade, price) =>
          kept.get(pair)![20 + index + 4]! < price ? 'falls' : null,
      },
    });
  },
  'signals kept for their next rows': () => {
    const kept = new Map<string, Uint8Array>();
    return sound({
      signals: ({ close }, { average }, _params, _informative, { pair }) => {
        const crosses = crossesOf(close, average!);
        kept.set(pair, crosses.exitLong);
        return crosses;
      },
      callbacks: {
        confirmEntry: ({ pair, index }) =>
          !kept
            .get(pair)!
            .subarray(20 + index, 20 + index + 5)
            .includes(1),
      },
    });
  },
  'a stake by the volatility of the whole series': () => {
    const deviations = new Map<string, number>();
    return sound({
      indicators: ({ close }, _params, { pair }) => {
        deviations.set(pair, mean(standardDeviation(close, 20).subarray(20)) / mean(close));
        return { average: sma(close, 20) };
      },
      callbacks: {
        customStake: ({ pair }, _side, stake) => Math.min(stake, (stake * 0.01) / deviations.get(pair)!),
      },
    });
  },
};
