import { expect, it } from 'vitest';
import { sliceCandles } from '#engine/candles.ts';
import { beginSearch, poisonedCut, testCut, testTruncated } from '#engine/look-ahead/search.ts';
import { defineStrategy } from '#engine/strategy.ts';
import { CROSSING } from './crossing-fixture.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

it('cut around the end of a delisted pair, or of the run, finds nothing in a causal strategy', async () => {
  const held = () =>
    defineStrategy({
      ...CROSSING,
      name: 'held',
      signals: ({ close }) => ({ enterLong: new Uint8Array(close.length).fill(1) }),
      stoploss: -0.99,
      callbacks: {
        customExit: ({ candles, index }) => (candles.close[index - 1]! < 0 ? 'x' : null),
        orderFilled: () => undefined,
      },
    });
  const subject = lookAheadSubject(held, { rows: 60 });
  const [delisted, other] = subject.pairs;
  const { timestamp } = delisted!.candles;
  const stepMs = timestamp[1]! - timestamp[0]!;
  const rows = timestamp.length - 20;
  const at = timestamp[rows]!;
  const intervals = [{ from: 0, to: Number.MAX_SAFE_INTEGER }];
  const pairs = [
    {
      pair: delisted!.pair,
      candles: sliceCandles(delisted!.candles, 0, rows),
      membership: { intervals, delisting: { at, haircut: 0.05 } },
    },
    { ...other!, membership: { intervals } },
  ];
  const search = await beginSearch({ ...subject, pairs });
  expect(search.run.table.exitReason.texts).toEqual(['delisted', 'force_exit']);
  for (const end of [at, timestamp.at(-1)! + stepMs])
    for (let time = end - 4 * stepMs; time < end + 4 * stepMs; time += stepMs) {
      if (time > timestamp.at(-1)!) continue;
      const truncated = await testTruncated(search, subject.load, time);
      expect([time, truncated.findings]).toEqual([time, []]);
      for (const how of [0, 1, 2]) {
        const poisoned = testCut(search, await subject.load(), poisonedCut(search, time, how));
        expect([time, how, poisoned.findings]).toEqual([time, how, []]);
      }
    }
});
