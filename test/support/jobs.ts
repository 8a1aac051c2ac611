import { expect } from 'vitest';
import type { BacktestResult, JobIn, JobTiming, ResultsLocation } from '#contract/backtests/backtest.ts';
import type { LookAhead } from '#contract/config/look-ahead.ts';
import { jobListOf } from '#contract/values/tables.ts';
import type { JobFilter, JobRow } from '#domain/jobs/job-list-ports.ts';
import type { JobStore } from '#domain/ports.ts';
import type { CandleCurve } from '#engine/report/candle-curve.ts';

/** Valid pending job; `changes` override its fields. */
export function pendingJob(jobId: string, changes: Partial<JobIn<'pending'>> = {}): JobIn<'pending'> {
  const range = { start: '2025-01-01T00:00:00.000Z', end: '2025-02-01T00:00:00.000Z' };
  return {
    schema_version: 2,
    kind: 'backtest',
    status: 'pending',
    job_id: jobId,
    owner: 'anonymous',
    revision: 1,
    created_at: '2025-03-01T00:00:00.000Z',
    updated_at: '2025-03-01T00:00:00.000Z',
    experiment_name: null,
    priority: 5,
    config: {
      strategy: 'ema_crossover',
      exchange: 'sim',
      pairs: ['BTC/USDT:USDT'],
      timeframe: '5m',
      date_range: range,
      stake_amount: 100,
      dry_run_wallet: 1000,
      max_open_trades: 1,
      fee: 0.0005,
      slippage: 0,
      leverage: 1,
      params: {},
      stoploss: -0.1,
      minimal_roi: { '0': 0.04 },
      trailing: null,
      timeframe_detail: null,
      fill_model: 'freqtrade',
      seed: 1,
      precision: 'none',
    },
    warnings: [],
    execution_input: {
      job_id: jobId,
      kind: 'backtest',
      list: jobListOf(jobId.startsWith('va-') ? 'validation' : 'backtest', jobId),
      image: null,
      correlation_id: 'c-1',
      on_demand: false,
      exchange: 'sim',
      symbols: ['BTC/USDT:USDT'],
      timeframe: '5m',
      ...range,
    },
    request_digest: 'd',
    attempt: 0,
    runs: 0,
    queue: { since: '2025-03-01T00:00:00.000Z', deferrals: 0 },
    collection: null,
    ...changes,
  };
}

export const SOME_RESULT: BacktestResult = {
  total_trades: 10,
  winning_trades: 6,
  losing_trades: 3,
  total_profit: 12.5,
  total_profit_pct: 1.25,
  sharpe_ratio: 1.1,
  profit_factor: 1.8,
  win_rate: 60,
  max_drawdown_pct: 4.2,
  draws: 1,
  final_balance: 1012.5,
  sortino_ratio: 1.9,
  calmar_ratio: null,
  cagr_pct: 15.3,
  expectancy: 1.25,
  sqn: 0.7,
  exposure_pct: 33.3,
  market_change_pct: -2.1,
  fees: 1.02,
  funding: -0.1,
  trade_stats: { n: 10, mean: 1.25, variance: 4.5 },
};

export const SOME_RESULTS: ResultsLocation = { prefix: 'results/x/1', digest: 'ab', trade_pages: 1 };

/** Look-ahead check of a run in which a leak was found. */
export const FOUND_LOOK_AHEAD: LookAhead = {
  state: 'found',
  message: 'found: 8 histories that end earlier and 9 with changed later candles. Look-ahead bias was found.',
  cuts: 17,
  poisoned_cuts: 9,
  rows: 900,
  pairs: ['BTC/USDT:USDT'],
  findings: ['look_ahead: column close of row 5 changes with later candles'],
};

/** Two candles of one hour. */
export const SOME_CURVE: CandleCurve = {
  start: Date.UTC(2025, 0, 1, 1),
  step: 3_600_000,
  wallet: 1_000,
  equity: Float64Array.of(1_000, 1_012.5),
  market: Float64Array.of(1_001, 979),
};

export const SOME_TIMING: JobTiming = {
  load_ms: 1,
  indicators_ms: 1,
  simulate_ms: 1,
  report_ms: 1,
  write_ms: 1,
  total_ms: 5,
  candles: 100,
  peak_memory_mb: 80,
};

/** All rows of a list over its pages. Checks the guarantees of each page. */
export async function everyRow(store: JobStore, filter: JobFilter, limit = 100): Promise<JobRow[]> {
  const rows: JobRow[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<JobStore['list']>> = await store.list(filter, limit, cursor);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    // A page with a cursor is full, and the next page is not empty.
    if (page.next !== null) expect(page.items.length).toBe(limit);
    if (cursor !== null) expect(page.items.length).toBeGreaterThan(0);
    rows.push(...page.items);
    cursor = page.next;
  } while (cursor !== null);
  return rows;
}
