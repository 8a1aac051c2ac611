import type { Space } from '#contract/hyperopt/hyperopt.ts';
import type { HyperoptRequest } from '#contract/hyperopt/hyperopt-request.ts';
import { statedDefaults } from '#contract/values/repeated-config.ts';
import type { RequestOf, ResponseOf } from '../../api/client.ts';
import type { AccountOption } from '../../forms/account-option-fields.tsx';
import type { Strategy } from '../../forms/start-job.tsx';

type Job = ResponseOf<'getHyperopt'>;
type Search = NonNullable<HyperoptRequest['search']>;

type FieldName =
  | 'strategy'
  | 'exchange'
  | 'trading_mode'
  | 'pairs'
  | 'timeframe'
  | 'collect'
  | 'date_range'
  | 'experiment_name'
  | 'objective_metric'
  | 'direction'
  | 'n_trials'
  | 'workers'
  | 'seed'
  | 'sampler'
  | 'pruner'
  | 'permutations'
  | 'backtest_period_days'
  | 'train_period_days'
  | 'model_types'
  | 'n_estimators_range'
  | 'learning_rate_range'
  | AccountOption
  | 'slippage_model'
  | 'stake_amount'
  | 'dry_run_wallet'
  | 'max_open_trades'
  | 'fee'
  | 'slippage'
  | 'leverage'
  | 'precision';
type Fields = Pick<HyperoptRequest, FieldName>;
export type ChangeFields = (fields: Partial<Fields>) => void;

/** What the form of a new job holds: the request, and two choices that several of its fields follow from. */
export interface Draft {
  /** Fields that go into the request as they are. */
  readonly fields: Fields;
  readonly trainsModels: boolean;
  /** `spaces`: whole spaces; `search`: chosen parameters with ranges of their own. The API takes one of them. */
  readonly by: 'spaces' | 'search';
  readonly spaces: readonly Space[];
  readonly search: Search;
}

/** The draft for a strategy: everything at its default. */
export function draftFor(strategy: Strategy | undefined): Draft {
  const trainsModels = strategy?.ml_engine.enabled ?? false;
  return {
    fields: { strategy: strategy?.strategy ?? '' },
    trainsModels,
    by: 'spaces',
    spaces: trainsModels ? ['params', 'ml'] : ['params'],
    search: {},
  };
}

/** The draft that makes the same job again. */
export function draftOf(job: Job): Draft {
  const { config, account } = job;
  const trainsModels = !config.model_types.includes('none');
  const usesSpaces = config.spaces !== undefined;
  const { n_trials, objective_metric, direction, date_range, sampler, pruner, seed, workers } = config;
  const { model_types, n_estimators_range, learning_rate_range, train_period_days } = config;
  const models = { model_types, n_estimators_range, learning_rate_range, train_period_days };
  return {
    fields: {
      strategy: job.strategy,
      exchange: job.exchange,
      ...(job.trading_mode && { trading_mode: job.trading_mode }),
      pairs: job.pairs,
      timeframe: job.timeframe,
      collect: job.collect,
      date_range,
      backtest_period_days: config.backtest_period_days,
      ...(trainsModels ? models : {}),
      n_trials,
      objective_metric,
      direction,
      sampler,
      pruner,
      seed,
      workers,
      ...(config.permutations !== undefined && { permutations: config.permutations }),
      ...account,
      // Trials with limit orders must not get the market orders of the strategy.
      order_types: statedDefaults(account).order_types,
      precision: job.precision,
      ...(job.experiment_name === null ? {} : { experiment_name: job.experiment_name }),
    },
    trainsModels,
    by: usesSpaces ? 'spaces' : 'search',
    spaces: config.spaces ?? [],
    search: usesSpaces ? {} : searchOf(config.search),
  };
}

function searchOf(searched: Job['config']['search']): Search {
  return Object.fromEntries(
    Object.entries(searched).map(([name, range]) => [
      name,
      range.kind === 'choice' ? { choices: range.choices } : { min: range.min, max: range.max },
    ]),
  );
}

/** Fields of models, which a job without them must not or need not name. */
const MODEL_FIELDS = [
  'model_types',
  'n_estimators_range',
  'learning_rate_range',
  'train_period_days',
] as const;

/** The request of a draft, without what is undefined. */
export function requestOf({
  fields,
  trainsModels,
  by,
  spaces,
  search,
}: Draft): RequestOf<'startHyperopt'>['body'] {
  const chosen = trainsModels ? spaces : spaces.filter((space) => space !== 'ml');
  const request: Record<string, unknown> = {
    ...fields,
    ...(trainsModels ? {} : { models: 'none' }),
    ...(by === 'spaces' ? { spaces: chosen } : { search }),
  };
  for (const name of trainsModels ? (['permutations'] as const) : MODEL_FIELDS) delete request[name];
  const { start, end } = fields.date_range ?? {};
  if (start === undefined && end === undefined) delete request.date_range;
  return JSON.parse(JSON.stringify(request)) as RequestOf<'startHyperopt'>['body'];
}
