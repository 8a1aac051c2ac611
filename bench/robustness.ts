import { createHash } from 'node:crypto';
import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { type BacktestInput, runBacktest } from '#engine/backtest.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { defaultParameters } from '#engine/strategies/parameters.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { median } from './support/measure.ts';

interface Case {
  readonly label: string;
  readonly timeframe: Timeframe;
  readonly candles: number;
  readonly changes: Partial<ResolvedBacktestConfig>;
}

const STARTUP = 1_000;
const RUNS = 7;
const CASES: readonly Case[] = [
  {
    label: 'a year of 5m, return table',
    ...{ timeframe: '5m', candles: 105_120, changes: { minimal_roi: { 0: 0.02 } } },
  },
  { label: '1,000,000 candles of 1m', timeframe: '1m', candles: 1_000_000, changes: {} },
  {
    label: '1,000,000 candles of 1m, return table (simulated break-even)',
    ...{ timeframe: '1m', candles: 1_000_000, changes: { minimal_roi: { 0: 0.02 } } },
  },
];

function inputOf({ timeframe, candles, changes }: Case): BacktestInput {
  const strategy = builtInStrategies.find(({ name }) => name === 'ema_crossover')!;
  const step = TIMEFRAME_MS[timeframe];
  const start = CANDLES_START + STARTUP * step;
  const pair = 'BTC/USDT:USDT';
  return {
    strategy,
    strategyDigest: '',
    config: {
      ...{ strategy: strategy.name, exchange: 'sim', pairs: [pair], timeframe, timeframe_detail: null },
      date_range: {
        start: new Date(start).toISOString(),
        end: new Date(start + candles * step).toISOString(),
      },
      ...{ stake_amount: 1_000, dry_run_wallet: 1_000_000, max_open_trades: 1, fee: 0.0005, slippage: 0 },
      ...{ leverage: 1, params: { ...defaultParameters(strategy.parameters) }, stoploss: -0.3 },
      ...{ minimal_roi: {}, trailing: null, fill_model: 'freqtrade', seed: 0, precision: 'none' },
      ...changes,
    },
    pairs: [{ pair, candles: randomCandles(1, STARTUP + candles, timeframe) }],
  };
}

/** Of all threads of this process: other processes do not count. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The first run is that of a task, which compiles as it goes; the look-ahead cuts take what it leaves of the 10 %. */
function measure(each: Case): Measurement[] {
  const input = inputOf(each);
  const shares: number[] = [];
  let detail = '';
  for (let run = 0; run < RUNS; run++) {
    const { timing, report } = runBacktest(input, {
      digest: (data) => createHash('sha256').update(data).digest('hex'),
      now: processorMs,
    });
    const total = timing.indicators_ms + timing.simulate_ms + timing.report_ms;
    shares.push(timing.robustness_ms / total);
    const { method, simulations } = report.robustness!.break_even;
    detail ||= `${timing.robustness_ms.toFixed(1)} of ${total.toFixed(0)} ms without loading and writing; break-even ${method}, ${simulations} simulations`;
  }
  const target = { atMost: 0.1 };
  return [
    { label: `${each.label}: first run`, value: shares[0]!, unit: 'of the run', target, detail },
    { label: `${each.label}: warm`, value: median(shares.slice(1)), unit: 'of the run', target },
  ];
}

export default {
  name: 'robustness',
  description: 'share of the robustness section in a run of one pair, without loading and writing',
  run: () => CASES.flatMap(measure),
} satisfies Bench;
