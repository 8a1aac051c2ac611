import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { openFolder } from '#adapters/processes/sandbox.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import type { Trade } from '#contract/backtests/report.ts';
import type { Candles } from '#engine/candles.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import { build } from '../bin/build/build.ts';
import { bundleStrategies } from '../bin/build/bundle-strategies.ts';
import { output, pythonWith } from '../test/support/python.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { differentTrades, type FreqtradeTrade } from './support/freqtrade/compare-trades.ts';
import { median, sumColumns, time } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { TaskFixture } from './support/task-fixture.ts';

const FOLDER = join(import.meta.dirname, 'support/freqtrade');
const DRIVER = join(FOLDER, 'driver.py');
const STRATEGIES = join(FOLDER, 'strategies');

const PAIRS = 'BTC ETH SOL XRP ADA DOT LTC BCH LINK XLM DOGE UNI AVAX ATOM ALGO FIL TRX ETC NEAR APT'
  .split(' ')
  .map((asset) => `${asset}/USDT`);
/** The first pairs of {@link PAIRS}, and how often each side runs: with 20 pairs freqtrade takes minutes. */
const SIZES = [
  { pairs: scaled(4, 2), runs: scaled(3), theirRuns: 3 },
  { pairs: scaled(20, 3), runs: scaled(3), theirRuns: 1 },
];
const STEP_MS = 5 * 60_000;
const HOUR_MS = 60 * 60_000;
/** 250 candles of 1h. */
const STARTUP = 3_000;
/** A year. */
const CANDLES = scaled(105_120, 5_000);
const FEE = 0.0005;
const WALLET = 1_000_000;
const STAKE = 1_000;

/** A strategy of this platform, and its twin for freqtrade. */
const TWINS = [
  { label: 'EMA 20/50', ours: 'bench_cross', theirs: 'BenchCross' },
  { label: 'ROI, trailing stop, 1h trend, protections', ours: 'bench_trend', theirs: 'BenchTrend' },
  { label: 'callbacks, additions', ours: 'bench_callbacks', theirs: 'BenchCallbacks' },
] as const;

interface Outcome<T> {
  readonly cpuMs: number;
  readonly trades: readonly T[];
}

/** Candles with four decimals of the price, as exchanges have them. */
function pairCandles(seed: number): Candles {
  const candles = randomCandles(seed, STARTUP + CANDLES, '5m');
  for (const column of [candles.open, candles.high, candles.low, candles.close, candles.volume])
    for (let i = 0; i < column.length; i++) column[i] = Math.round(column[i]! * 1e4) / 1e4;
  return candles;
}

/** Steps and limits of the markets, as exchanges state them: without them neither side rounds as for real markets. */
const PRICE_TICK = 1e-4;
const AMOUNT_STEP = 1e-5;
const MIN_COST = 5;

/** The market of each pair for freqtrade. */
const MARKET = {
  amount_step: AMOUNT_STEP,
  price_tick: PRICE_TICK,
  amount_min: AMOUNT_STEP,
  cost_min: MIN_COST,
};

/** The same market for this platform. */
const INSTRUMENT = {
  amount_step: AMOUNT_STEP,
  min_amount: AMOUNT_STEP,
  max_amount: null,
  min_cost: MIN_COST,
  max_cost: null,
  contract_size: 1,
  price_tick: PRICE_TICK,
  collected_at: new Date(CANDLES_START).toISOString(),
};

const range = {
  start: CANDLES_START + STARTUP * STEP_MS,
  end: CANDLES_START + (STARTUP + CANDLES) * STEP_MS,
};

/**
 * freqtrade in a folder of its own, in a new process for each run. driver.py gives it the markets, which it otherwise reads
 * from the exchange; it reads nothing else from the network.
 */
class Freqtrade {
  readonly #python: string;
  readonly #home: string;
  readonly #markets = JSON.stringify(Object.fromEntries(PAIRS.map((pair) => [pair, MARKET])));
  version = '';

  constructor(python: string, home: string) {
    this.#python = python;
    this.#home = home;
    mkdirSync(home, { recursive: true });
  }

  #config(pairs: readonly string[]): object {
    return {
      dry_run: true,
      dry_run_wallet: WALLET,
      stake_currency: 'USDT',
      stake_amount: STAKE,
      tradable_balance_ratio: 1,
      max_open_trades: pairs.length,
      fee: FEE,
      trading_mode: 'spot',
      dataformat_ohlcv: 'feather',
      entry_pricing: { price_side: 'same', use_order_book: true, order_book_top: 1 },
      exit_pricing: { price_side: 'same', use_order_book: true, order_book_top: 1 },
      exchange: { name: 'binance', pair_whitelist: pairs },
      pairlists: [{ method: 'StaticPairList' }],
    };
  }

  async store(pair: string, timeframe: string, candles: Candles): Promise<void> {
    const file = join(this.#home, 'candles.f64');
    const { timestamp, open, high, low, close, volume } = candles;
    const columns = [timestamp, open, high, low, close, volume];
    writeFileSync(file, Buffer.concat(columns.map((column) => new Uint8Array(column.buffer))));
    await output(this.#python, [DRIVER, 'data', join(this.#home, 'data'), file, pair, timeframe]);
  }

  async run(strategy: string, pairs: readonly string[]): Promise<Outcome<FreqtradeTrade>> {
    const results = join(this.#home, 'results');
    const config = join(this.#home, 'config.json');
    writeFileSync(config, JSON.stringify(this.#config(pairs)));
    await rm(results, { recursive: true, force: true });
    mkdirSync(results);
    const args = ['backtesting', '--config', config, '--userdir', this.#home];
    args.push('--datadir', join(this.#home, 'data'), '--strategy-path', FOLDER, '--strategy', strategy);
    args.push('--timerange', `${range.start}-${range.end}`, '--cache', 'none', '--enable-protections');
    args.push('--backtest-directory', results);
    const child = spawn(this.#python, [DRIVER, 'run', this.#markets, ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const outputs = Promise.all(
      [child.stdout!, child.stderr!, child.stdio[3] as Readable].map((pipe) => text(pipe)),
    );
    const [code] = await once(child, 'exit');
    const [out, errors, usage] = (await outputs) as [string, string, string];
    if (code !== 0) throw new Error(`freqtrade ended with code ${code}: ${out}${errors}`);
    const { cpuMs, version } = JSON.parse(usage) as { cpuMs: number; version: string };
    this.version = version;
    return { cpuMs, trades: JSON.parse(await output(this.#python, [DRIVER, 'result', results])) };
  }
}

function configOf(strategy: string, pairs: readonly string[]): BacktestConfigRequest {
  return {
    strategy,
    trading_mode: 'spot',
    precision: 'exchange',
    pairs: [...pairs],
    timeframe: '5m',
    date_range: { start: new Date(range.start).toISOString(), end: new Date(range.end).toISOString() },
    dry_run_wallet: WALLET,
    stake_amount: STAKE,
    fee: FEE,
    max_open_trades: pairs.length,
  };
}

/** The runs of both sides, in turns. */
interface Runs {
  readonly ours: readonly Outcome<Trade>[];
  /** Empty where freqtrade cannot be installed. */
  readonly theirs: readonly Outcome<FreqtradeTrade>[];
}

/** Every trade is compared: sums hide differences that cancel each other. */
function checkEqual(ours: Outcome<Trade>, theirs: Outcome<FreqtradeTrade>): void {
  const different = differentTrades(ours.trades, theirs.trades);
  if (different.length === 0) return;
  throw new Error(`${different.length} values differ from freqtrade's: ${different.slice(0, 20).join('\n')}`);
}

function medianMs(outcomes: readonly Outcome<unknown>[]): number {
  return median(outcomes.map(({ cpuMs }) => cpuMs));
}

function measurement(label: string, runs: Runs, boundMs: number, version: string): Measurement {
  const ours = medianMs(runs.ours);
  const { trades } = runs.ours[0]!;
  const profit = trades.reduce((sum, trade) => sum + trade.profit, 0).toFixed(2);
  const own = `${ours.toFixed(0)} ms, bound ${boundMs.toFixed(2)} ms, ${trades.length} trades, profit ${profit}`;
  const load = `load average ${loadavg()[0]!.toFixed(1)}`;
  if (runs.theirs.length === 0) return { label, value: ours, unit: 'ms', detail: `${own}; ${load}` };
  const theirs = medianMs(runs.theirs);
  return {
    label,
    value: theirs / ours,
    unit: `times freqtrade ${version}`,
    target: { atLeast: 100 },
    detail: `${own}; freqtrade ${theirs.toFixed(0)} ms, the same trades; ${load}`,
  };
}

async function store(fixture: TaskFixture, freqtrade: Freqtrade | undefined): Promise<Candles[]> {
  const stored: Candles[] = [];
  for (const [index, pair] of PAIRS.slice(0, SIZES.at(-1)!.pairs).entries()) {
    const candles = pairCandles(index + 1);
    await fixture.storeInstrument(pair, INSTRUMENT);
    const hours = resampleCandles(candles, STEP_MS, HOUR_MS);
    for (const [timeframe, rows] of [
      ['5m', candles],
      ['1h', hours],
    ] as const) {
      await fixture.storeCandles(pair, timeframe, rows);
      await freqtrade?.store(pair, timeframe, rows);
    }
    stored.push(candles);
  }
  return stored;
}

async function measure(
  fixture: TaskFixture,
  freqtrade: Freqtrade | undefined,
  bundles: string,
): Promise<Measurement[]> {
  const candles = await store(fixture, freqtrade);
  const entry = join(bundles, 'tasks', 'backtest.mjs');
  const compiled = join(bundles, 'compiled');
  const rows: Measurement[] = [];
  for (const size of SIZES) {
    const pairs = PAIRS.slice(0, size.pairs);
    for (const { label, ours: strategy, theirs: twin } of TWINS) {
      const ours: Outcome<Trade>[] = [];
      const theirs: Outcome<FreqtradeTrade>[] = [];
      const bounds: number[] = [];
      for (let run = -1; run < size.runs; run++) {
        const { usage, jobId } = await fixture.runTask(entry, configOf(strategy, pairs), false, () =>
          openFolder(join(bundles, 'own'), compiled),
        );
        // The first run fills Node's compile cache, as freqtrade was compiled by pip.
        if (run < 0) continue;
        bounds.push(await time(() => candles.slice(0, size.pairs).map(sumColumns)));
        ours.push({ cpuMs: usage.cpuMs, trades: await fixture.tradesOf(jobId) });
        if (freqtrade && run < size.theirRuns) {
          theirs.push(await freqtrade.run(twin, pairs));
          checkEqual(ours[run]!, theirs[run]!);
        }
      }
      const row = `${size.pairs} pairs: ${label}`;
      rows.push(measurement(row, { ours, theirs }, median(bounds), freqtrade?.version ?? ''));
    }
  }
  return rows;
}

export default {
  name: 'freqtrade',
  description: `Backtests of 4 and of 20 pairs over a year of 5m candles as a whole process, from its start to the written results, compared with \`freqtrade backtesting\` in turns; processor time (medians of three runs; freqtrade runs once with 20 pairs)`,
  async run() {
    const found = await pythonWith('bench/support/freqtrade/requirements.txt');
    if ('missing' in found) console.log(`freqtrade: no comparison: ${found.missing}`);
    const bundles = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const home = await mkdtemp(join(tmpdir(), 'freqtrade-'));
    const fixture = await TaskFixture.start(STRATEGIES);
    try {
      await build(bundles);
      await bundleStrategies(STRATEGIES, [join(bundles, 'tasks')]);
      return await measure(
        fixture,
        'python' in found ? new Freqtrade(found.python, home) : undefined,
        bundles,
      );
    } finally {
      await fixture.stop();
      await rm(bundles, { recursive: true, force: true });
      await rm(home, { recursive: true, force: true });
    }
  },
} satisfies Bench;
