import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { ACCOUNT_FIELDS, type CollectMode, MARKET_FIELDS } from '#contract/config/run-fields.ts';
import {
  type HyperoptJobConfig,
  PRUNERS,
  SAMPLERS,
  type SearchedParameter,
} from '#contract/hyperopt/hyperopt.ts';
import {
  HYPEROPT_DEFAULTS as DEFAULTS,
  HyperoptRequest,
  HYPEROPT_LIMITS as LIMITS,
} from '#contract/hyperopt/hyperopt-request.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import { notPermutable } from '#engine/robustness/permuted-pairs.ts';
import { samplerLag } from '#engine/search/trials.ts';
import { largerStartup, needsMore, type Startup } from '#engine/startup.ts';
import { type ResolveDeps, resolveConfig } from '../config/resolve-config.ts';
import type { KnownStrategy } from '../config/strategy-ports.ts';
import { type CollectionPlan, planCollection } from '../data/plan-reads.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkNumber, checkOneOf } from '../shared/validate.ts';
import { resolveConstraints, resolveObjective } from './resolve-objective.ts';
import {
  resolveSpaces,
  resolveTrials,
  sameModelWarnings,
  searchWarnings,
  trainsModels,
  untrainedWarnings,
} from './resolve-spaces.ts';

/** Fields of a hyperopt request that mean the same in a backtest's `config`. */
const CONFIG_FIELDS = [
  'strategy',
  'date_range',
  ...(Object.keys(MARKET_FIELDS) as (keyof typeof MARKET_FIELDS)[]),
  ...(Object.keys(ACCOUNT_FIELDS) as (keyof typeof ACCOUNT_FIELDS)[]),
];
const KEYS = Object.keys(HyperoptRequest.shape);
const DATE_RANGE_KEYS = Object.keys(HyperoptRequest.shape.date_range.unwrap().shape);

export interface ResolvedHyperopt {
  readonly config: HyperoptJobConfig;
  /** Configuration of every trial, before its own parameters. */
  readonly base: ResolvedBacktestConfig;
  readonly warnings: readonly string[];
  /** Time from which candles are needed, ISO 8601. */
  readonly reads: CollectionPlan;
  /** Largest number of startup candles for any searched values. */
  readonly startup: Startup;
  /** Strategy with which the request was resolved. */
  readonly strategy: KnownStrategy;
  readonly collect: CollectMode;
  /** Instruments of the pairs at the time of the request; only with precision `exchange`. */
  readonly instruments?: ReadonlyMap<string, InstrumentRecord> | undefined;
}

/**
 * Fills in every default of a request and checks every value.
 * Throws RES002 (unknown strategy, known names in context), VAL001 to VAL006.
 */
export async function resolveHyperopt(deps: ResolveDeps, input: HyperoptRequest): Promise<ResolvedHyperopt> {
  const sampler = checkOneOf(input.sampler ?? DEFAULTS.sampler, 'sampler', SAMPLERS);
  const objective = resolveObjective(input);
  const constraints = resolveConstraints(input.constraints);
  const isTrained = trainsModels(input, (await deps.strategies.find(input.strategy))?.definition);
  const test = checkPeriod(input, 'backtest_period_days');
  const train = isTrained ? checkPeriod(input, 'train_period_days') : undefined;
  const found = await resolveBase(deps, input, test, train);
  const { base, collect, strategy, warnings: baseWarnings, instruments } = found;
  const spaces = resolveSpaces(strategy.definition, input, base.ml_engine, sampler);
  const trials = resolveTrials(input, spaces, sampler);
  const { workers, warnings } = checkWorkers(input.workers ?? DEFAULTS.workers, trials);
  const startup = await largestStartup(strategy, base.params, spaces.search);
  const reads = await planCollection(deps, base, { facts: strategy.definition, startup });
  const permutations = checkPermutations(input.permutations, trials, base, reads.informative !== undefined);
  const config: HyperoptJobConfig = {
    n_trials: trials,
    ...(train !== undefined && { train_period_days: train }),
    backtest_period_days: test,
    ...objective,
    ...(constraints.length > 0 && { constraints }),
    ...spaces,
    date_range: base.date_range,
    sampler,
    pruner: checkOneOf(input.pruner ?? DEFAULTS.pruner, 'pruner', PRUNERS),
    seed: checkNumber(input.seed ?? DEFAULTS.seed, 'seed', LIMITS.seed),
    workers,
    ...(permutations !== undefined && { permutations }),
  };
  return {
    config,
    base,
    collect,
    strategy,
    instruments,
    startup,
    reads,
    warnings: [
      ...unknownKeyWarnings(input, KEYS, ''),
      ...unknownKeyWarnings(input.date_range ?? {}, DATE_RANGE_KEYS, 'date_range.'),
      ...searchWarnings(input.search ?? {}),
      ...sameModelWarnings(spaces, base.ml_engine),
      ...baseWarnings,
      ...warnings,
      ...(isTrained ? [] : untrainedWarnings(input)),
    ],
  };
}

/** Number of searches on permuted candles; undefined without any. */
function checkPermutations(
  asked: number | undefined,
  trials: number,
  base: ResolvedBacktestConfig,
  readsOthers: boolean,
): number | undefined {
  if (asked === undefined) return undefined;
  const field = 'permutations';
  const count = checkNumber(asked, field, LIMITS.permutations);
  const reason = notPermutable(base, readsOthers);
  if (reason !== undefined) {
    const message = `permutations cannot be made: ${reason} Leave the field out`;
    throw new CodedError('VAL005', { message, field, context: { value: count } });
  }
  const { max } = LIMITS.permuted_trials;
  if (count * trials > max) {
    const message = `permutations times n_trials must be at most ${max}, and is ${count * trials}: reduce either`;
    throw new CodedError('VAL005', { message, field, context: { value: count, n_trials: trials, max } });
  }
  return count;
}

type Period = 'train_period_days' | 'backtest_period_days';

function checkPeriod(input: HyperoptRequest, field: Period): number {
  return checkNumber(input[field] ?? DEFAULTS[field], field, LIMITS[field]);
}

/** Limits the workers to the trials that may run concurrently: additional workers would only wait. */
function checkWorkers(asked: number, trials: number): { workers: number; warnings: string[] } {
  const workers = checkNumber(asked, 'workers', LIMITS.workers);
  const max = samplerLag(trials);
  if (workers <= max) return { workers, warnings: [] };
  const warning = `workers is ${max} instead of ${workers}: at most a tenth of the ${trials} trials run concurrently, so that later trials learn from earlier ones`;
  return { workers: max, warnings: [warning] };
}

/**
 * Base configuration of every trial. `date_range.start` is the first traded candle, as in a backtest: training data
 * precede it.
 */
async function resolveBase(
  deps: ResolveDeps,
  input: HyperoptRequest,
  testDays: number,
  trainDays: number | undefined,
): Promise<Pick<ResolvedHyperopt, 'base' | 'collect' | 'strategy' | 'warnings' | 'instruments'>> {
  if (input.strategy === SIGNALS_STRATEGY) {
    throw new CodedError('VAL005', {
      message: `Strategy ${SIGNALS_STRATEGY} trades an uploaded file and has no parameters to search: optimize where the signals are computed, and run each file as a backtest`,
      field: 'strategy',
    });
  }
  if (input.universe !== undefined) {
    throw new CodedError('VAL005', {
      message:
        'universe is for backtests: search over fixed pairs, and run the best parameters with hyperopt_job_id and config.universe',
      field: 'universe',
    });
  }
  const given = CONFIG_FIELDS.filter((name) => input[name] !== undefined);
  const resolved = await resolveConfig(deps, {
    ...Object.fromEntries(given.map((name) => [name, input[name]])),
    strategy: input.strategy,
    ...(trainDays !== undefined && {
      ml_engine: { enabled: true, train_period_days: trainDays, backtest_period_days: testDays },
    }),
  }).catch(atTopLevel);
  const { config, collect, warnings, strategy, instruments } = resolved;
  const test = testDays * DAY_MS;
  const end = Date.parse(config.date_range.end);
  const isDefault = input.date_range?.start === undefined && trainDays !== undefined;
  const start = isDefault ? end - DEFAULTS.windows * test : Date.parse(config.date_range.start);
  checkRoom(start, end, test, trainDays !== undefined);
  const base = { ...config, date_range: { start: isoTime(start), end: isoTime(end) } };
  return { base, collect, strategy, warnings: warnings.map(flat), instruments };
}

/** Without models a range shorter than a window is one window. */
function checkRoom(start: number, end: number, test: number, isTrained: boolean): void {
  const minLength = isTrained ? test : 0;
  const windows = Math.ceil((end - start) / test);
  if (end - start >= minLength && windows <= LIMITS.windows.max) return;
  const days = Number(((end - start) / DAY_MS).toFixed(2));
  throw new CodedError('VAL005', {
    message:
      end - start < minLength
        ? `date_range holds ${days} days, fewer than backtest_period_days (${test / DAY_MS}): extend it. It is the traded interval; training data precede it`
        : `date_range holds ${windows} windows of backtest_period_days, more than ${LIMITS.windows.max}: shorten it or raise backtest_period_days`,
    field: 'date_range',
    context: {
      start: isoTime(start),
      end: isoTime(end),
      min_days: minLength / DAY_MS,
      windows,
      max_windows: LIMITS.windows.max,
    },
  });
}

/** A hyperopt request has the fields of a backtest's `config` at the top level. */
const flat = (text: string) => text.replaceAll(/\bconfig\.(ml_engine\.)?/g, '');

function atTopLevel(error: unknown): never {
  if (!(error instanceof CodedError)) throw error;
  const { code, message, field, context, status } = error;
  throw new CodedError(code, { message: flat(message), field: flat(field), context, status, cause: error });
}

type Values = ResolvedBacktestConfig['params'];

/** Each may take the time limit of `startupCandles`: a strategy that hangs must not hold the request for a minute. */
const MAX_FAILURES = 3;

/**
 * Startup candles of the trials of a hyperopt job: the largest number for any searched values. `startupCandles`
 * depends on all parameters together, and calling it for every combination is too slow. It is called for the smallest and
 * the largest values. From the worst of these, it is called for each parameter in turn: all choices or both ends of its
 * range. The result is exact if no parameter changes the direction in which another one works.
 * Throws VAL006 when the strategy fails for `params` of the configuration.
 */
async function largestStartup(
  { startupCandles }: KnownStrategy,
  params: Values,
  search: HyperoptJobConfig['search'],
): Promise<Startup> {
  const first = await startupCandles(params);
  const most = { values: params, startup: first };
  let all: Startup = first;
  let failures = 0;
  const tryValues = async (values: Values) => {
    if (failures === MAX_FAILURES) return;
    try {
      const startup = await startupCandles(values);
      all = largerStartup(all, startup);
      if (needsMore(startup, most.startup)) Object.assign(most, { values, startup });
    } catch (error) {
      // Trials with such parameters will fail and say why.
      if (!(error instanceof CodedError && error.code === 'VAL006')) throw error;
      failures += 1;
    }
  };
  const searched = Object.entries(search).map(([name, each]) => ({ name, values: extremes(each) }));
  const ends = (at: number) => Object.fromEntries(searched.map(({ name, values }) => [name, values.at(at)!]));
  await tryValues({ ...params, ...ends(0) });
  await tryValues({ ...params, ...ends(-1) });
  for (const { name, values } of searched) {
    for (const value of values) {
      if (most.values[name] !== value) await tryValues({ ...most.values, [name]: value });
    }
  }
  return all;
}

function extremes(searched: SearchedParameter): readonly (string | number | boolean)[] {
  return searched.kind === 'choice' ? searched.choices : [searched.min, searched.max];
}
