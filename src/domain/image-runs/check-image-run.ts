import type { BacktestResult, JobRun } from '#contract/backtests/backtest.ts';
import { EquityData } from '#contract/backtests/backtest-api.ts';
import { ImageRunOrders, ImageRunOutcome, ImageRunResult } from '#contract/backtests/image-run.ts';
import { IMAGE_RUN_LIMITS } from '#contract/backtests/image-run-keys.ts';
import { BacktestReport } from '#contract/backtests/report.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import type { CandleCurve } from '#engine/report/candle-curve.ts';
import { type TextColumn, TRADE_NUMBERS, type TradeTable } from '#engine/simulator/trade-table.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { isoTime } from '../shared/iso-time.ts';
import { InvalidRunError } from './image-run-ports.ts';

/**
 * Checks of what the task of a registered image has written. They prove form and identity: every value has the type of its schema,
 * and everything belongs to this job. They do not prove that the metrics are true, which only another run of the image could.
 * All throw InvalidRunError.
 */

interface Issues {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

/** Names the first problem. Keys and values of the input are cut: they may be long. */
function invalid(what: string, { issues: [issue] }: Issues): InvalidRunError {
  const path = (issue?.path ?? []).map((key) => String(key).slice(0, 50)).join('.');
  return new InvalidRunError(`${what}: ${path} ${issue?.message.slice(0, 200)}`.toWellFormed());
}

export function checkOutcome(value: unknown, job: JobRun): ImageRunOutcome {
  if (value === undefined) throw new InvalidRunError('there is none');
  const parsed = ImageRunOutcome.safeParse(value);
  if (!parsed.success) throw invalid('outcome', parsed.error);
  const outcome = parsed.data;
  if (outcome.job_id !== job.job_id) throw new InvalidRunError('the outcome is of another job');
  if (outcome.status === 'failed') checkCorrupt(outcome, job);
  else if (job.kind === 'validation') checkValidation(outcome);
  else if (outcome.checks) throw new InvalidRunError('a backtest has no staging checks');
  return outcome;
}

function checkCorrupt(
  { corrupt }: Extract<ImageRunOutcome, { status: 'failed' }>,
  { config: { pairs, timeframe, timeframe_detail } }: JobRun,
): void {
  if (!corrupt) return;
  const isOwn = corrupt.timeframe === timeframe || corrupt.timeframe === timeframe_detail;
  if (!isOwn || !pairs.includes(corrupt.symbol)) {
    throw new InvalidRunError('the corrupt file is of a series that the job does not read');
  }
}

/** Checks that run in a task, in this order. */
const STAGING_CHECKS = ['code', 'smoke_run', 'determinism', 'look_ahead'];

function checkValidation({ checks = [], look_ahead }: Extract<ImageRunOutcome, { status: 'completed' }>) {
  if (look_ahead) throw new InvalidRunError('a validation reports look-ahead bias as a check');
  if (checks.map(({ name }) => name).join() !== STAGING_CHECKS.join()) {
    throw new InvalidRunError(`the staging checks are not ${STAGING_CHECKS.join(', ')}`);
  }
  const open = checks.find(({ status }) => !['passed', 'failed', 'warning'].includes(status));
  if (open) throw new InvalidRunError(`the staging check ${open.name} is ${open.status}`);
}

/** Parts of the results as parsed JSON. */
export interface RunParts {
  readonly result: unknown;
  readonly equity: unknown;
  readonly report: unknown;
}

/** Returns the metrics, and the equity of each day. */
export function checkParts(
  parts: RunParts,
  { config }: JobRun,
): { readonly result: BacktestResult; readonly equity: readonly number[] } {
  const result = ImageRunResult.safeParse(parts.result);
  if (!result.success) throw invalid('result', result.error);
  const equity = EquityData.safeParse(parts.equity);
  if (!equity.success) throw invalid('equity', equity.error);
  const { dates, equity: values, drawdown } = equity.data;
  if (values.length !== dates.length || drawdown.length !== dates.length) {
    throw new InvalidRunError('the columns of the equity differ in length');
  }
  if (!areDays(dates)) throw new InvalidRunError('the dates of the equity are not consecutive days');
  const report = BacktestReport.safeParse(parts.report);
  if (!report.success) throw invalid('report', report.error);
  const { settings, data } = report.data;
  const { strategy, exchange, trading_mode, pairs, timeframe, timeframe_detail, date_range, fill_model } =
    config;
  const wanted = { strategy, exchange, trading_mode, timeframe, timeframe_detail, fill_model };
  for (const [name, value] of Object.entries(wanted)) {
    if (settings[name as keyof typeof wanted] !== value) {
      throw new InvalidRunError(`the report has another ${name} than the job`);
    }
  }
  if (settings.date_range.start !== date_range.start || settings.date_range.end !== date_range.end) {
    throw new InvalidRunError('the report has another date_range than the job');
  }
  if (settings.pairs.join() !== pairs.join() || data.some(({ pair }) => !pairs.includes(pair))) {
    throw new InvalidRunError('the report has other pairs than the job');
  }
  return { result: result.data, equity: values };
}

/** At least one day: readers take the time of each row from the first date. */
function areDays(dates: readonly string[]): boolean {
  const first = Date.parse(dates[0] ?? '');
  const last = first + (dates.length - 1) * DAY_MS;
  if (!(Math.abs(first) <= MAX_TIME && Math.abs(last) <= MAX_TIME)) return false;
  return dates.every((date, day) => date === isoTime(first + day * DAY_MS).slice(0, DATE_LENGTH));
}

/** Characters of `YYYY-MM-DD`. */
const DATE_LENGTH = 10;
/** Largest time that a Date holds, ms. */
const MAX_TIME = 8.64e15;

/** @param pairs of the job */
export function checkTrades(table: TradeTable, pairs: readonly string[]): void {
  for (const name of TRADE_NUMBERS) {
    const isValid = name === 'liquidationPrice' ? isPrice : Number.isFinite;
    if (!table[name].every(isValid)) throw new InvalidRunError(`a trade has no valid ${name}`);
  }
  for (const name of ['openedAt', 'closedAt'] as const) {
    if (!table[name].every((time) => Number.isInteger(time) && Math.abs(time) <= MAX_TIME)) {
      throw new InvalidRunError(`a trade has no valid ${name}`);
    }
  }
  if (!table.leftOpen.every((flag) => flag <= 1)) throw new InvalidRunError('a trade has no valid leftOpen');
  checkTexts('pair', table.pair, (text) => text !== null && pairs.includes(text));
  checkTexts('side', table.side, (text) => text === 'long' || text === 'short');
  checkTexts('enterTag', table.enterTag, () => true);
  checkTexts('exitReason', table.exitReason, (text) => text !== null);
  for (const [row, orders] of table.orders) {
    if (
      !Number.isInteger(row) ||
      row < 0 ||
      row >= table.length ||
      !ImageRunOrders.safeParse(orders).success
    ) {
      throw new InvalidRunError('a trade has no valid orders');
    }
  }
}

/** NaN: the trade has no liquidation price. */
function isPrice(value: number): boolean {
  return Number.isFinite(value) || Number.isNaN(value);
}

/** The curve is on the candles of the job. */
export function checkCurve({ start, step, wallet, equity }: CandleCurve, { config }: JobRun): void {
  const { timeframe, date_range, dry_run_wallet } = config;
  const last = start + (equity.length - 1) * step;
  const isOwn =
    step === TIMEFRAME_MS[timeframe] &&
    wallet === dry_run_wallet &&
    (equity.length === 0 || (start >= Date.parse(date_range.start) && last < Date.parse(date_range.end)));
  if (!isOwn) throw new InvalidRunError('the curve is of other candles than those of the job');
}

function checkTexts(
  name: string,
  { texts, index }: TextColumn<string | null>,
  isValid: (text: string | null) => boolean,
): void {
  const isText = (text: unknown) =>
    text === null || (typeof text === 'string' && text.length <= IMAGE_RUN_LIMITS.text_length);
  if (!Array.isArray(texts) || !texts.every((text) => isText(text) && isValid(text))) {
    throw new InvalidRunError(`a trade has no valid ${name}`);
  }
  if (!index.every((position) => position < texts.length)) {
    throw new InvalidRunError(`a trade has no ${name}`);
  }
}
