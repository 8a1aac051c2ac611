import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { runBacktest } from '#engine/backtest.ts';
import { sliceCandles } from '#engine/candles.ts';
import { attribute } from '#engine/robustness/attribution.ts';
import type { RunBenchmark } from '#engine/robustness/bitcoin.ts';
import { CONFIG, SAMPLE_STRATEGY, sampleInput, sha256 } from '../backtest-sample.ts';
import { START, walk } from '../run/candles.ts';

const DAYS = 200;
const BTC = 'BTC/USDT:USDT';
const ETH = 'ETH/USDT:USDT';
const stored = walk(DAYS, DAY_MS, 77, START);
const BITCOIN = { pair: BTC, source: '4h', candles: stored } as const;

function run(benchmark: RunBenchmark | undefined, pair = ETH) {
  const end = new Date(START + DAYS * DAY_MS).toISOString();
  const input = sampleInput({
    strategy: SAMPLE_STRATEGY,
    config: {
      ...CONFIG,
      timeframe: '4h',
      pairs: [pair],
      date_range: { start: CONFIG.date_range.start, end },
      leverage: 1,
      trailing: null,
      minimal_roi: {},
      stoploss: -0.3,
      fee: 0,
      slippage: 0,
    },
    pairs: [{ pair, candles: walk(DAYS * 6 + 20, DAY_MS / 6, 3, START - (20 * DAY_MS) / 6) }],
  });
  const { report, equity } = runBacktest({ ...input, benchmark }, { digest: sha256 });
  return { ...report.robustness!, provenance: report.provenance, equity, report };
}

describe('benchmark of stored bitcoin', () => {
  const without = run(undefined);
  const compared = run(BITCOIN);

  it('regresses the days of the run on holding bitcoin', () => {
    const returnsOf = (first: number, values: ArrayLike<number>) =>
      Float64Array.from(values, (value, day) => value / (day === 0 ? first : values[day - 1]!) - 1);
    const own = returnsOf(CONFIG.dry_run_wallet, compared.equity.equity);
    const expected = attribute(own, returnsOf(stored.open[0]!, stored.close))!;
    const [, btc] = compared.benchmarks;
    expect(btc).toMatchObject({ benchmark: 'btc', pair: BTC, days: DAYS, reason: null });
    expect(btc!.source).toEqual({ timeframe: '4h', candles: DAYS });
    expect(btc!.beta).toBeCloseTo(expected.beta!, 4);
    expect(btc!.alpha_pct).toBeCloseTo(expected.alpha_pct!, 4);
    expect(compared.findings.join()).toContain(`Against holding ${BTC} alpha is`);
  });

  it('is part of the provenance, and changes no other figure', () => {
    expect(compared.provenance.data_digest).not.toBe(without.provenance.data_digest);
    expect(compared.provenance.data_digest).toBe(run(BITCOIN).provenance.data_digest);
    const shorter = { ...BITCOIN, candles: sliceCandles(stored, 0, DAYS - 1) };
    expect(run(shorter).provenance.data_digest).not.toBe(compared.provenance.data_digest);
    const { benchmarks: a, findings: _, provenance: __, report: ___, ...others } = compared;
    const { benchmarks: b, findings: ____, provenance: _____, report: ______, ...same } = without;
    expect(others).toEqual(same);
    expect(a[0]).toEqual(b[0]);
  });

  it('without stored bitcoin the report says so', () => {
    expect(without.benchmarks[1]).toMatchObject({ pair: null, alpha_pct: null });
    expect(without.benchmarks[1]!.reason).toMatch(/^The run has no pair of bitcoin\./);
  });

  it('bitcoin without stored funding is a warning; with funding, in spot or unless it is compared, none', () => {
    const hours = (step: number) =>
      Float64Array.from({ length: (DAYS * 24) / step }, (_, i) => START + i * step * 3_600_000);
    const funding = (timestamp: Float64Array) => ({
      timestamp,
      rate: new Float64Array(timestamp.length),
      markPrice: timestamp.slice().fill(Number.NaN),
    });
    const about = (benchmark: RunBenchmark) =>
      run(benchmark).report.warnings.filter((warning) => warning.includes(BTC));
    const [start, end] = [0, DAYS].map((day) => new Date(START + day * DAY_MS).toISOString());
    expect(about({ ...BITCOIN, funding: funding(new Float64Array(0)) })).toEqual([
      `No funding rates of ${BTC} are stored between ${start} and ${end}: the benchmark holds it without funding in that interval. Collect it.`,
    ]);
    const fortnight = hours(8).filter((time) => time < START + 10 * DAY_MS || time >= START + 24 * DAY_MS);
    expect(about({ ...BITCOIN, funding: funding(fortnight) })).toEqual([
      expect.stringContaining('between 2024-01-10T16:00:00.000Z and 2024-01-25T00:00:00.000Z'),
    ]);
    expect(about({ ...BITCOIN, funding: funding(hours(8)) })).toEqual([]);
    expect(about(BITCOIN)).toEqual([]);
    const part = {
      ...BITCOIN,
      candles: sliceCandles(stored, 30, DAYS),
      funding: funding(new Float64Array(0)),
    };
    expect(about(part)).toEqual([]);
  });

  it('a part of the days is not compared', () => {
    const [, btc] = run({ ...BITCOIN, candles: sliceCandles(stored, 30, DAYS) }).benchmarks;
    expect(btc).toMatchObject({ pair: BTC, alpha_pct: null });
    expect(btc!.reason).toBe(`The stored candles of ${BTC} cover ${DAYS - 30} of ${DAYS} days.`);
  });

  it('data that cannot be used are the reason', () => {
    const [, btc] = run({ pair: BTC, reason: 'The file is corrupt.' }).benchmarks;
    expect(btc).toMatchObject({ pair: BTC, beta: null, reason: 'The file is corrupt.' });
  });

  it('candles that no run would trade are not compared', () => {
    const open = stored.open.slice();
    open[0] = 0;
    const [, btc] = run({ ...BITCOIN, candles: { ...stored, open } }).benchmarks;
    expect(btc).toMatchObject({ pair: BTC, alpha_pct: null, benchmark_return_pct: null });
    expect(btc!.reason).toMatch(/cannot be used: BTC.* has a price that is not above 0/);
  });

  it('a run that trades bitcoin is compared with its own candles', () => {
    const [, btc] = run(undefined, BTC).benchmarks;
    expect(btc).toMatchObject({ pair: BTC, reason: null });
    expect(btc).not.toHaveProperty('source');
  });
});
