import { InvalidArgumentError } from 'commander';
import type * as z from 'zod';
import type { HyperoptStart } from '#contract/hyperopt-api.ts';
import type { ApiClient } from '../client.ts';
import { jobPath } from './watch.ts';

export interface StartOptions {
  readonly trials?: number;
  readonly exchange?: string;
  readonly precision?: string;
  /** Run on stored candles, without an exchange. */
  readonly offline?: boolean;
  readonly pairs?: string;
  readonly timeframe?: string;
  readonly trainDays?: number;
  readonly backtestDays?: number;
  readonly start?: string;
  readonly end?: string;
  readonly objective?: string;
  readonly direction?: string;
  readonly models?: string;
  readonly trees?: readonly [number, number];
  readonly learningRate?: readonly [number, number];
  readonly search?: Readonly<Record<string, object>>;
  readonly spaces?: string;
  readonly stake?: number | string;
  readonly wallet?: number;
  readonly slots?: number;
  readonly fee?: number;
  readonly slippage?: number;
  readonly leverage?: number;
  readonly sampler?: string;
  readonly pruner?: string;
  readonly seed?: number;
  readonly workers?: number;
  readonly experiment?: string;
}

/** Starts a study. Fields of `body` are those of the request; options win over them. */
export function startStudy(
  client: ApiClient,
  strategy: string,
  body: Readonly<Record<string, unknown>>,
  options: StartOptions,
): Promise<z.infer<typeof HyperoptStart>> {
  return client.post('/api/v1/hyperopt', { ...body, ...requestOf(body, options), strategy });
}

/** Goes on with a study that was cancelled or failed, as a new one. */
export function resumeStudy(client: ApiClient, jobId: string): Promise<z.infer<typeof HyperoptStart>> {
  return client.post(jobPath(jobId, '/resume'));
}

function requestOf(body: Readonly<Record<string, unknown>>, options: StartOptions): object {
  const { pairs, models, search = {}, start, end } = options;
  const range = { ...(start && { start }), ...(end && { end }) };
  const given = {
    n_trials: options.trials,
    exchange: options.exchange,
    precision: options.precision,
    collect: options.offline ? 'never' : undefined,
    pairs: pairs && listOf(pairs),
    timeframe: options.timeframe,
    train_period_days: options.trainDays,
    backtest_period_days: options.backtestDays,
    date_range: Object.keys(range).length > 0 ? { ...Object(body.date_range), ...range } : undefined,
    objective_metric: options.objective,
    direction: options.direction,
    model_types: models && listOf(models),
    n_estimators_range: options.trees,
    learning_rate_range: options.learningRate,
    search: Object.keys(search).length > 0 ? { ...Object(body.search), ...search } : undefined,
    spaces: options.spaces && listOf(options.spaces),
    stake_amount: options.stake,
    dry_run_wallet: options.wallet,
    max_open_trades: options.slots,
    fee: options.fee,
    slippage: options.slippage,
    leverage: options.leverage,
    sampler: options.sampler,
    pruner: options.pruner,
    seed: options.seed,
    workers: options.workers,
    experiment_name: options.experiment,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const listOf = (text: string) => text.split(',').map((each) => each.trim());

/** `min..max`. Throws InvalidArgumentError, to which commander adds option and value. */
export function range(text: string): [number, number] {
  const parts = text.split('..').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (parts.length === 2 && parts.every(Number.isFinite)) return parts as [number, number];
  throw new InvalidArgumentError('It takes min..max, such as 50..300.');
}

/** One parameter more: `name`, `name=min..max` or `name=a,b,c`. */
export function searched(text: string, previous: Readonly<Record<string, object>>): Record<string, object> {
  const [, name, , what] = /^([^=]+)(=(.+))?$/.exec(text) ?? [];
  if (!name) throw new InvalidArgumentError('It takes name, name=min..max or name=a,b,c.');
  if (what === undefined) return { ...previous, [name]: {} };
  if (what.includes('..')) {
    const [min, max] = range(what);
    return { ...previous, [name]: { min, max } };
  }
  return { ...previous, [name]: { choices: listOf(what).map(choiceOf) } };
}

/** As JSON where it is JSON, else as text. */
function choiceOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
