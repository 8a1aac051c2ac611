import { describe, expect, it } from 'vitest';
import { where } from '#engine/indicators/index.ts';
import type { CallbackContext, StrategyDefinition } from '#engine/strategy.ts';
import { captured } from './certify-fixture.ts';
import { sound } from './crossing-fixture.ts';
import { searchedRun, TWO_YEARS } from './every-run.ts';
import type { Define } from './leaking-strategies.ts';

const PAIRS = TWO_YEARS.seeds.map((seed) => `M${seed}/USDT:USDT`);
const HOUR = 3_600_000;

/** Processor clock of a run that took no time: its cuts have used up the budget at once. */
function busy() {
  let now = 0;
  return () => now++;
}

/** Histories that a strategy got for each pair, by their last candle, and its loads. */
function watched(changes: Partial<StrategyDefinition> = {}) {
  const seen: {
    readonly pair: string;
    readonly rows: number;
    readonly last: number;
    readonly price: number;
  }[] = [];
  let loads = 0;
  const define: Define = () => {
    loads++;
    const strategy = sound(changes);
    return {
      ...strategy,
      indicators: (candles, params, info) => {
        const { close, timestamp } = candles;
        seen.push({ pair: info.pair, rows: close.length, last: timestamp.at(-1)!, price: close.at(-1)! });
        return strategy.indicators(candles, params, info);
      },
    };
  };
  return { define, seen, loads: () => loads };
}

describe('cuts of every run', () => {
  it('a run is cut eight times in each way near its start, and once anywhere, with two loads of its source', async () => {
    const { define, seen, loads } = watched();
    const { sample } = await searchedRun(define, TWO_YEARS, busy());
    expect([sample.truncated, sample.poisoned]).toEqual([8, 9]);
    expect(sample.pairs).toEqual(PAIRS);
    // The subject, the run and the histories are defined too; see searchedRun.
    expect(loads()).toBe(4);
    const cuts = seen.slice(PAIRS.length);
    const near = cuts.filter(({ rows }) => rows < 2_000);
    // Each cut has all pairs; the drawn one has its own only, to the end of the run.
    expect(near).toHaveLength(2 * 8 * PAIRS.length);
    expect(cuts).toHaveLength(near.length + 1);
    expect(cuts.at(-1)).toMatchObject({ rows: TWO_YEARS.rows + 20 });
  });

  it('a strategy with callbacks is also cut where its positions are open', async () => {
    const { define, loads } = watched({
      signals: ({ close }) => ({ enterLong: where(close.length, (row) => row % 20 === 0) }),
      callbacks: { customExit: ({ time }, { openedAt }) => (time - openedAt > 2 * HOUR ? 'old' : null) },
    });
    // Each position is closed before the next signal acts.
    const { sample } = await searchedRun(define, TWO_YEARS, busy());
    expect([sample.truncated, sample.poisoned]).toEqual([8 + 4, 8 + 4 + 1]);
    expect(loads()).toBe(4);
  });

  it('a run with fewer signals is cut at each of them', async () => {
    const { define } = watched({
      signals: ({ close }) => ({ enterLong: where(close.length, (row) => row === 500 || row === 9_000) }),
    });
    const { sample } = await searchedRun(define, { ...TWO_YEARS, seeds: [31] }, busy());
    expect([sample.truncated, sample.poisoned]).toEqual([2, 3]);
    expect(sample.rows).toBeGreaterThanOrEqual(9_001 - 20);
  });

  it('a run whose last candle has its only signal is not cut there', async () => {
    const { outcome } = await searchedRun(
      () =>
        sound({
          signals: ({ close }) => ({ enterLong: where(close.length, (row) => row === close.length - 1) }),
        }),
      { ...TWO_YEARS, seeds: [31] },
    );
    expect(outcome.observed!.near).toEqual([]);
  });

  it('cuts near the start are just after signals of all pairs and kinds', async () => {
    const { outcome } = await searchedRun(() => sound());
    const { near, histories, analyses } = outcome.observed!;
    const kinds = new Set<string>();
    for (const { data, candles } of histories) {
      const { signals } = analyses.get(data.pair)!;
      for (const time of near) {
        const row = candles.timestamp.indexOf(time) - 1;
        if (signals.enterLong![row] === 1) kinds.add(`${data.pair} enter`);
        if (signals.exitLong![row] === 1) kinds.add(`${data.pair} exit`);
      }
    }
    expect(new Set([...kinds].map((kind) => kind.split(' ')[0]))).toEqual(new Set(PAIRS));
    expect(new Set([...kinds].map((kind) => kind.split(' ')[1]))).toEqual(new Set(['enter', 'exit']));
    const start = Date.UTC(2024, 0, 1) + 20 * HOUR;
    expect(near.at(-1)! - start).toBeLessThan(300 * HOUR);
  });

  it('further cuts follow while all of them take less than a tenth of the processor time', async () => {
    // Each reading of the clock takes a millisecond.
    const searchAfter = async (begun: number) => {
      let now = begun;
      const { sample } = await searchedRun(
        () => sound(),
        TWO_YEARS,
        () => now++,
      );
      return { ...sample, used: (now - begun) / now };
    };
    const [none, some, all] = [await searchAfter(5), await searchAfter(40), await searchAfter(10_000)];
    expect([none.truncated, none.poisoned]).toEqual([8, 9]);
    expect(some.truncated + some.poisoned).toBeGreaterThan(17);
    expect(some.used).toBeLessThan(0.15);
    expect(all.truncated + all.poisoned).toBe(17 + 8);
  });
});

describe('trades after the candles near the start', () => {
  const LATE = Date.UTC(2025, 0, 1);
  /** Exits that a strategy decides in the second year only. */
  const late = (falls: (context: CallbackContext, price: number) => boolean) => () =>
    sound({
      callbacks: {
        customExit: (context, _trade, price) =>
          context.time > LATE && falls(context, price) ? 'falls' : null,
      },
    });

  it('a callback that reads later candles a year after the start is found', async () => {
    const { sample } = await searchedRun(
      late(({ candles, index }, price) => candles.close[index + 1]! < price),
    );
    expect(sample.findings.map(({ kind, callback }) => [kind, callback])).toEqual([
      ['look_ahead', 'customExit'],
    ]);
    expect(sample.findings[0]!.message).toMatch(
      /in the candle of 2025-.* read candles\.close\[\d+\]: 1 row beyond/,
    );
  });

  it('a callback that reads earlier candles a year after the start is not accused', async () => {
    const { sample } = await searchedRun(
      late(({ candles, index }, price) => candles.close[index - 1]! < price),
    );
    expect(sample.findings).toEqual([]);
  });

  it('a strategy that keeps row numbers from candle to candle is not accused', async () => {
    const { sample } = await searchedRun(() => {
      const entered = new Map<string, number>();
      return sound({
        callbacks: {
          confirmEntry: ({ pair, index }) => {
            if (!entered.has(pair) || index > entered.get(pair)! + 50) entered.set(pair, index);
            return true;
          },
          customExit: ({ pair, candles }, _trade, price) =>
            candles.close[entered.get(pair)! - 1]! > 2 * price ? 'fell' : null,
        },
      });
    });
    expect(sample.findings).toEqual([]);
  });
});

describe('findings', () => {
  it('a finding names pair, candle and what was known', async () => {
    const define = captured((at) => ({
      customExit: ({ pair, time }, _trade, price) => (at(pair, time, 2) < price ? 'known' : null),
    }));
    const { sample } = await searchedRun(define);
    expect(sample.findings.map(({ kind, callback }) => [kind, callback])).toEqual([
      ['look_ahead', 'customExit'],
    ]);
    expect(sample.findings[0]!.message).toMatch(
      /^customExit of M3\d\/USDT:USDT in the candle of 2024-.+ returned /,
    );
  });

  it('a kept array shows known rows only while the run trades, and all of them afterwards', async () => {
    const kept: Float64Array[] = [];
    const read: (readonly number[])[] = [];
    const define: Define = () =>
      sound({
        indicators: (candles) => {
          kept.push(candles.close, candles.open);
          return { average: candles.close };
        },
        signals: ({ close }) => ({ enterLong: where(close.length, (row) => row % 50 === 0) }),
        callbacks: {
          customExit: ({ index }, _trade, price) => {
            const [close, open] = kept as [Float64Array, Float64Array];
            if (read.length < 100) {
              const row = 20 + index;
              read.push([close[row - 1]!, close[row]!, close[row + 1]!, open[row]! - price, open[row + 1]!]);
            }
            return null;
          },
        },
      });
    const { outcome } = await searchedRun(define, { seeds: [31], rows: 400 });
    const { close } = outcome.observed!.histories[0]!.candles;
    expect(read.length).toBe(100);
    for (const [before, forming, later, open, next] of read) {
      expect(before).toBeGreaterThan(0);
      expect([forming, later, open, next]).toEqual([Number.NaN, Number.NaN, 0, Number.NaN]);
    }
    expect(kept[0]).toEqual(close);
  });

  it('a run completes although its strategy fails on rows that are not known, which is a finding', async () => {
    const kept = new Map<string, Float64Array>();
    const define: Define = () =>
      sound({
        indicators: ({ low, close }, _params, { pair }) => {
          kept.set(pair, low);
          return { average: close };
        },
        signals: ({ close }) => ({ enterLong: where(close.length, (row) => row % 50 === 0) }),
        callbacks: { customEntryPrice: ({ pair, index }) => kept.get(pair)![20 + index]! },
      });
    const { outcome, sample } = await searchedRun(define, { seeds: [31], rows: 400 });
    expect(outcome.trades.length).toBeGreaterThan(0);
    expect(sample.findings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('not known yet, and ran with them: customEntryPrice returned NaN'),
    );
  });

  it('a strategy that differs from run to run is not accused of look-ahead', async () => {
    let calls = 0;
    const { sample } = await searchedRun(() =>
      sound({
        callbacks: { customStake: (_context, _side, stake) => stake / (1 + Math.abs(Math.sin(calls++))) },
      }),
    );
    expect(sample.findings.map(({ kind }) => kind)).toEqual(['not_repeatable']);
  });
});
