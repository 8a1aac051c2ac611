import LIMITS from 'virtual:limits';
import type { BacktestConfigRequest, BacktestRequest } from '#contract/backtests/backtest-api.ts';
import { statedByRepeat } from '#contract/values/repeated-config.ts';
import type { RequestOf, ResponseOf } from '../../api/client.ts';
import type { AccountOption } from '../../forms/account-option-fields.tsx';
import type { Strategy } from '../../forms/start-job.tsx';

export type Job = ResponseOf<'getBacktest'>;
type Body = RequestOf<'submitBacktest'>['body'];

type ConfigField =
  | 'signals'
  | 'signals_digest'
  | 'strategy'
  | 'exchange'
  | 'trading_mode'
  | 'pairs'
  | 'timeframe'
  | 'collect'
  | 'date_range'
  | 'params'
  | AccountOption
  | 'slippage_model'
  | 'robustness'
  | 'universe'
  | 'stake_amount'
  | 'dry_run_wallet'
  | 'max_open_trades'
  | 'fee'
  | 'slippage'
  | 'leverage'
  | 'precision'
  | 'stoploss'
  | 'trailing'
  | 'protections'
  | 'timeframe_detail'
  | 'fill_model'
  | 'seed'
  | 'ml_engine';
export type Config = Pick<BacktestConfigRequest, ConfigField>;
type Submission = Pick<BacktestRequest, 'experiment_name' | 'priority' | 'model_version' | 'hyperopt_job_id'>;

/** Step of a table of minimal returns, as it is typed. */
export interface RoiStep {
  readonly minutes?: number | undefined;
  readonly ratio?: number | undefined;
}

/** What the form holds: the request, and the ROI table as its steps are typed. */
export interface Draft {
  readonly config: Config;
  readonly submission: Submission;
  /** undefined: that of the strategy; without a step: none. */
  readonly roi: readonly RoiStep[] | undefined;
}

/** The draft for a strategy: everything at its default. */
export function draftFor(strategy: Strategy | undefined): Draft {
  return { config: { strategy: strategy?.strategy ?? '' }, submission: {}, roi: undefined };
}

/** The draft that runs the job again. */
export function draftOf(job: Job): Draft {
  const { minimal_roi, ml_engine, universe, ...config } = job.config;
  const { entry_threshold, ...ml } = ml_engine ?? {};
  return {
    config: {
      ...config,
      ...(universe && repeatedUniverse(universe)),
      // A run without protections, or with limit orders, must not get those of the strategy.
      ...statedByRepeat(job),
      ...(ml_engine
        ? { ml_engine: { ...ml, ...(entry_threshold === null ? {} : { entry_threshold }) } }
        : {}),
    },
    submission: {
      priority: job.priority,
      ...(job.experiment_name === null ? {} : { experiment_name: job.experiment_name }),
      ...(job.registered ? { model_version: job.registered.version } : {}),
      ...(job.found_by ? { hyperopt_job_id: job.found_by.hyperopt_job_id } : {}),
    },
    roi: stepsOf(minimal_roi),
  };
}

/** The candidates as the pairs of the form, which then offers to change them; more than it can list stay as they are. */
function repeatedUniverse({ candidates, ...universe }: NonNullable<Job['config']['universe']>) {
  return candidates.length <= LIMITS.backtest.limits.pairs.max
    ? { pairs: candidates, universe }
    : { pairs: undefined, universe: { ...universe, candidates } };
}

/** The configuration with other fields. Pairs that are chosen, and another trading mode, replace the candidates of a repeated run. */
export function changed(before: Config, fields: Partial<Config>): Config {
  const { universe, ...config } = { ...before, ...fields };
  if (!universe) return config;
  const { candidates, ...rules } = universe;
  const isReplaced = 'pairs' in fields || config.pairs !== undefined;
  return { ...config, universe: isReplaced ? rules : universe };
}

/** Steps of a table in the order of time. */
export function stepsOf(table: Readonly<Record<string, number>>): readonly RoiStep[] {
  return Object.entries(table)
    .map(([minutes, ratio]) => ({ minutes: Number(minutes), ratio }))
    .sort((a, b) => a.minutes - b.minutes);
}

/** The request of a draft, without what is undefined. Steps that are not complete yet are left out: the form is not sent then. */
export function requestOf({ config, submission, roi }: Draft): Body {
  const { start, end } = config.date_range ?? {};
  const { params = {} } = config;
  const steps = roi?.flatMap(({ minutes, ratio }) =>
    minutes === undefined || ratio === undefined ? [] : [[String(minutes), ratio] as const],
  );
  const request = {
    config: {
      ...config,
      date_range: start === undefined && end === undefined ? undefined : config.date_range,
      params: Object.values(params).some((value) => value !== undefined) ? params : undefined,
      minimal_roi: steps && Object.fromEntries(steps),
    },
    ...submission,
  };
  return JSON.parse(JSON.stringify(request)) as Body;
}

/**
 * Settings that a request without them has, as far as the form shows them.
 *
 * @param exchange of the platform
 */
export function defaultsFor(strategy: Strategy | undefined, { pairs }: Config, exchange: string): object {
  const { backtest, account } = LIMITS;
  const { parameters = {}, ...declared } = strategy ?? {};
  return {
    config: {
      ...declared,
      ...backtest.defaults,
      exchange,
      leverage: strategy?.leverage ?? backtest.defaults.leverage,
      trailing: strategy?.trailing ?? null,
      params: Object.fromEntries(Object.entries(parameters).map(([name, each]) => [name, each.default])),
      max_open_trades: (pairs ?? strategy?.pairs)?.length,
      timeframe_detail: null,
      // The simulated market has no price ticks.
      precision: exchange === 'sim' ? 'none' : 'exchange',
      tradable_balance_ratio: account.defaults.tradable_balance_ratio,
      available_capital: null,
      amend_last_stake_amount: false,
      position_stacking: false,
      margin_mode: account.defaults.margin_mode,
    },
    priority: backtest.defaults.priority,
  };
}
