import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { DIRECTIONS, PRUNERS, SAMPLERS, type StudyConfig } from '#contract/hyperopt.ts';
import { HYPEROPT_DEFAULTS as DEFAULTS, HYPEROPT_LIMITS as LIMITS } from '#contract/hyperopt-request.ts';
import { MODEL_KINDS, modelKindOf } from '#engine/ml/index.ts';
import { nearestName } from '#engine/nearest-name.ts';
import { BacktestError } from '#engine/run/errors.ts';
import { historyStart } from '#engine/run/history.ts';
import { lagOf } from '#engine/search/trials.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import { OBJECTIVES, type Objective } from '#engine/walk-forward/objectives.ts';
import { type ResolveDeps, resolveConfig } from '../resolve-config.ts';
import { checkModelType } from '../resolve-ml-engine.ts';
import { unknownKeyWarnings } from '../unknown-keys.ts';
import { checkNumber, checkOneOf, isoTime, type NumberBounds } from '../validate.ts';
import { resolveSearch, type SearchInput, searchWarnings } from './resolve-search.ts';

/** A request after its JSON types were checked: only `strategy` is required. */
export interface StudyInput {
  readonly strategy: string;
  readonly pairs?: readonly string[] | undefined;
  readonly timeframe?: string | undefined;
  readonly n_trials?: number | undefined;
  readonly train_period_days?: number | undefined;
  readonly backtest_period_days?: number | undefined;
  readonly objective_metric?: string | undefined;
  readonly direction?: string | undefined;
  readonly model_types?: readonly string[] | undefined;
  readonly n_estimators_range?: readonly number[] | undefined;
  readonly learning_rate_range?: readonly number[] | undefined;
  readonly search?: SearchInput | undefined;
  readonly date_range?:
    | { readonly start?: string | undefined; readonly end?: string | undefined }
    | undefined;
  readonly exchange?: string | undefined;
  readonly sampler?: string | undefined;
  readonly pruner?: string | undefined;
  readonly seed?: number | undefined;
  readonly workers?: number | undefined;
  readonly experiment_name?: string | undefined;
}

const STUDY_KEYS = [
  ...(['strategy', 'pairs', 'timeframe', 'n_trials', 'train_period_days', 'backtest_period_days'] as const),
  ...(['objective_metric', 'direction', 'model_types', 'n_estimators_range', 'learning_rate_range'] as const),
  ...([
    'search',
    'date_range',
    'exchange',
    'sampler',
    'pruner',
    'seed',
    'workers',
    'experiment_name',
  ] as const),
] satisfies readonly (keyof StudyInput)[];

export interface ResolvedStudy {
  readonly config: StudyConfig;
  /** What every trial runs, before its own parameters. */
  readonly base: ResolvedBacktestConfig;
  readonly warnings: readonly string[];
  /** Time from which candles are needed, ISO 8601. */
  readonly dataStart: string;
}

/** Kinds of models that are searched unless the request names some: all but the baseline, which has no trees. */
const DEFAULT_MODEL_TYPES = MODEL_KINDS.filter((kind) => kind !== 'logistic_regression');
/** The default range holds this many windows. */
const DEFAULT_WINDOWS = 4;

/**
 * Fills in every default of a request and checks every value.
 * Throws RES002 (unknown strategy, known names in context), VAL001 to VAL006.
 */
export async function resolveStudy(deps: ResolveDeps, input: StudyInput): Promise<ResolvedStudy> {
  const trials = checkNumber(input.n_trials ?? DEFAULTS.n_trials, 'n_trials', LIMITS.n_trials);
  const objective = checkObjective(input.objective_metric ?? DEFAULTS.objective_metric);
  const { workers, warnings } = checkWorkers(input.workers ?? DEFAULTS.workers, trials);
  const periods = {
    train_period_days: checkPeriod(input, 'train_period_days'),
    backtest_period_days: checkPeriod(input, 'backtest_period_days'),
  };
  const resolved = await resolveBase(deps, input, periods);
  const { base } = resolved;
  const search = resolveSearch(deps.strategies, base.strategy, input.search ?? {});
  const config: StudyConfig = {
    n_trials: trials,
    ...periods,
    objective_metric: objective.name,
    direction: checkOneOf(input.direction ?? objective.better ?? 'maximize', 'direction', DIRECTIONS),
    model_types: checkModelTypes(input.model_types ?? DEFAULT_MODEL_TYPES),
    n_estimators_range: checkRange(input, 'n_estimators_range', LIMITS.n_estimators),
    learning_rate_range: checkRange(input, 'learning_rate_range', LIMITS.learning_rate),
    search,
    date_range: resolved.range,
    sampler: checkOneOf(input.sampler ?? DEFAULTS.sampler, 'sampler', SAMPLERS),
    pruner: checkOneOf(input.pruner ?? DEFAULTS.pruner, 'pruner', PRUNERS),
    seed: checkNumber(input.seed ?? DEFAULTS.seed, 'seed', LIMITS.seed),
    workers,
  };
  return {
    config,
    base,
    dataStart: isoTime(firstCandle(deps.strategies.get(base.strategy)!, base, search)),
    warnings: [
      ...unknownKeyWarnings({ ...input }, STUDY_KEYS, ''),
      ...unknownKeyWarnings({ ...input.date_range }, ['start', 'end'], 'date_range.'),
      ...searchWarnings(input.search ?? {}),
      ...warnings,
    ],
  };
}

type Period = 'train_period_days' | 'backtest_period_days';

function checkPeriod(input: StudyInput, field: Period): number {
  return checkNumber(input[field] ?? DEFAULTS[field], field, LIMITS[field]);
}

function checkObjective(name: string): Objective {
  const found = OBJECTIVES.find((each) => each.name === name);
  if (found) return found;
  const allowed = OBJECTIVES.map((each) => each.name);
  const nearest = nearestName(name.slice(0, 60), allowed);
  throw new CodedError('VAL005', {
    message: `objective_metric must be a metric of a backtest${nearest ? `; did you mean ${nearest}?` : ''}`,
    field: 'objective_metric',
    context: { value: name.slice(0, 100), allowed },
  });
}

function checkModelTypes(names: readonly string[]): string[] {
  if (names.length === 0 || names.length > LIMITS.model_types) {
    throw new CodedError('VAL005', {
      message: `model_types must hold 1 to ${LIMITS.model_types} names`,
      field: 'model_types',
      context: { count: names.length, min: 1, max: LIMITS.model_types, allowed: MODEL_KINDS },
    });
  }
  const kinds = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const field = `model_types.${index}`;
    const kind = modelKindOf(checkModelType(name, field))!;
    const other = kinds.get(kind);
    if (other !== undefined) {
      throw new CodedError('VAL005', {
        message: `model_types names one kind twice: ${other} and ${name} are ${kind}`,
        field,
        context: { value: name, kind },
      });
    }
    kinds.set(kind, name);
  }
  return [...names];
}

function checkRange(
  input: StudyInput,
  field: 'n_estimators_range' | 'learning_rate_range',
  bounds: NumberBounds,
): [number, number] {
  const range: readonly number[] = input[field] ?? DEFAULTS[field];
  const [min, max] = range;
  if (min === undefined || max === undefined || range.length !== 2) {
    throw new CodedError('VAL005', {
      message: `${field} must be [min, max]`,
      field,
      context: { count: range.length, min: 2, max: 2 },
    });
  }
  checkNumber(min, `${field}.0`, bounds);
  checkNumber(max, `${field}.1`, bounds);
  if (min <= max) return [min, max];
  throw new CodedError('VAL005', {
    message: `${field} must be [min, max]: ${min} is above ${max}`,
    field,
    context: { min, max },
  });
}

/** More workers than trials that may run at once would only wait. */
function checkWorkers(asked: number, trials: number): { workers: number; warnings: string[] } {
  const workers = checkNumber(asked, 'workers', LIMITS.workers);
  const most = lagOf(trials);
  if (workers <= most) return { workers, warnings: [] };
  const warning = `workers is ${most} instead of ${workers}: of ${trials} trials at most a tenth run at once, so that later ones learn from earlier ones`;
  return { workers: most, warnings: [warning] };
}

async function resolveBase(deps: ResolveDeps, input: StudyInput, periods: Readonly<Record<Period, number>>) {
  const { strategy, pairs, timeframe, exchange, date_range } = input;
  const given = {
    strategy,
    ...(pairs && { pairs }),
    ...(timeframe !== undefined && { timeframe }),
    ...(exchange !== undefined && { exchange }),
    ...(date_range && { date_range: date_range as { start?: string; end?: string } }),
    ml_engine: { enabled: true, ...periods },
  };
  const { config } = await resolveConfig(deps, given).catch(atTopLevel);
  const train = periods.train_period_days * DAY_MS;
  const test = periods.backtest_period_days * DAY_MS;
  const end = Date.parse(config.date_range.end);
  const resolvedStart = Date.parse(config.date_range.start);
  const start = date_range?.start === undefined ? end - train - DEFAULT_WINDOWS * test : resolvedStart;
  checkRoom(start, end, train, test);
  return {
    range: { start: isoTime(start), end: isoTime(end) },
    base: { ...config, date_range: { start: isoTime(start + train), end: isoTime(end) } },
  };
}

/** Time from which candles are needed, ms: by the smallest and by the largest values that are searched. */
function firstCandle(
  strategy: StrategyDefinition,
  { params, timeframe, date_range, ml_engine }: ResolvedBacktestConfig,
  search: StudyConfig['search'],
): number {
  const ends = (['min', 'max'] as const).map((end) =>
    Object.fromEntries(
      Object.entries(search).flatMap(([name, each]) => (each.kind === 'choice' ? [] : [[name, each[end]]])),
    ),
  );
  const starts = [{}, ...ends].map((searched) => {
    const values = { ...params, ...searched };
    try {
      return historyStart(strategy, values, timeframe, Date.parse(date_range.start), ml_engine);
    } catch (error) {
      // Trials with such parameters will fail and say why.
      if (error instanceof BacktestError) return Number.POSITIVE_INFINITY;
      throw error;
    }
  });
  return Math.min(...starts);
}

function checkRoom(start: number, end: number, train: number, test: number): void {
  const days = (end - start) / DAY_MS;
  const least = (train + test) / DAY_MS;
  const windows = Math.ceil((end - start - train) / test);
  if (days >= least && windows <= LIMITS.windows) return;
  throw new CodedError('VAL005', {
    message:
      days < least
        ? `date_range must hold train_period_days and backtest_period_days: ${least} days, not ${Number(days.toFixed(2))}`
        : `date_range holds ${windows} windows of backtest_period_days: at most ${LIMITS.windows}`,
    field: 'date_range',
    context: {
      start: isoTime(start),
      end: isoTime(end),
      min_days: least,
      windows,
      max_windows: LIMITS.windows,
    },
  });
}

/** A request has at its top what a backtest has in `config`. */
function atTopLevel(error: unknown): never {
  if (!(error instanceof CodedError)) throw error;
  const { code, message, field, context, status } = error;
  const flat = (text: string) => text.replaceAll(/\bconfig\.(ml_engine\.)?/g, '');
  throw new CodedError(code, { message: flat(message), field: flat(field), context, status, cause: error });
}
