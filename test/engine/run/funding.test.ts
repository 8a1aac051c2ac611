import { expect, it } from 'vitest';
import { runBacktest } from '#engine/backtest.ts';
import { ROWS, STEP, sampleInput, sha256 } from '../backtest-sample.ts';
import { START } from './candles.ts';

const HOUR = 3_600_000;
const END = START + ROWS * STEP;

/** Funding warnings of a run whose first pair has events at those times. */
function warningsWith(times: readonly number[] | undefined): string[] {
  const input = sampleInput();
  const [btc, eth] = input.pairs.map(({ funding: _, ...pair }) => pair);
  const column = (value: number) => new Float64Array(times?.length ?? 0).fill(value);
  const funding = { timestamp: Float64Array.from(times ?? []), rate: column(1e-4), markPrice: column(100) };
  const pairs = [{ ...btc!, ...(times && { funding }) }, eth!];
  const { report } = runBacktest({ ...input, pairs }, { digest: sha256 });
  return report.warnings.filter((warning) => warning.includes('funding'));
}

const every8h = Array.from({ length: Math.ceil((END - START) / (8 * HOUR)) }, (_, i) => START + i * 8 * HOUR);
const iso = (time: number) => new Date(time).toISOString();

it('backtest does not warn about complete funding or about a pair without funding', () => {
  expect(END - START).toBeGreaterThan(48 * HOUR);
  expect(warningsWith(every8h)).toEqual([]);
  expect(warningsWith(undefined)).toEqual([]);
});

it('backtest warns about more than a day without funding, inside the range and at its ends', () => {
  const text = (from: number, to: number) => [
    `No funding rates of BTC/USDT:USDT are stored between ${iso(from)} and ${iso(to)}: no funding is paid or received in that interval.`,
  ];
  expect(warningsWith([])).toEqual(text(START, END));
  expect(warningsWith(every8h.slice(0, 2))).toEqual(text(every8h[1]!, END));
  expect(warningsWith(every8h.slice(4))).toEqual(text(START, every8h[4]!));
  // A gap of exactly one day is accepted.
  expect(warningsWith([every8h[0]!, ...every8h.slice(3)])).toEqual([]);
  expect(warningsWith([every8h[0]!, ...every8h.slice(4)])).toEqual(text(START, every8h[4]!));
});
