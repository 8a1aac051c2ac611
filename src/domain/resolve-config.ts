import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { CollectMode } from '#contract/common.ts';
import { CodedError } from '#contract/errors.ts';
import { NO_MODEL } from '#contract/hyperopt.ts';
import type { InstrumentRecord } from '#contract/instrument.ts';
import { historyStartOf } from '#engine/run/history.ts';
import type { DefinitionData } from '#engine/strategies/definition-data.ts';
import { resolveParameters } from '#engine/strategies/parameters.ts';
import type { ParameterValues, TrailingStop } from '#engine/strategy.ts';
import { DAY_MS, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import {
  checkCollect,
  checkDetail,
  checkExchange,
  checkPairs,
  checkRoi,
  checkStake,
  checkTrailing,
  FILL_MODELS,
  LIMITS,
  TRAILING_KEYS,
} from './config-checks.ts';
import { findStrategy } from './find-strategy.ts';
import type { InstrumentStore } from './instrument-ports.ts';
import type { Clock, SeriesStore } from './ports.ts';
import { ML_ENGINE_FIELD, ML_ENGINE_KEYS, type MlEngineInput, resolveMlEngine } from './resolve-ml-engine.ts';
import { resolvePrecision } from './resolve-precision.ts';
import type { KnownStrategy, Strategies } from './strategy-ports.ts';
import { unknownKeyWarnings } from './unknown-keys.ts';
import { ACCEPTED_TIMES, checkNumber, checkOneOf, checkTimeframe, isoTime, parseTime } from './validate.ts';

/** A submission's `config` after its JSON types were checked: only `strategy` is required. */
export interface ConfigInput {
  readonly strategy: string;
  readonly exchange?: string;
  readonly pairs?: readonly string[];
  readonly timeframe?: string;
  readonly date_range?: { readonly start?: string; readonly end?: string };
  readonly stake_amount?: number | string;
  readonly dry_run_wallet?: number;
  readonly max_open_trades?: number;
  readonly fee?: number;
  readonly slippage?: number;
  readonly leverage?: number;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly stoploss?: number;
  readonly minimal_roi?: Readonly<Record<string, number>>;
  readonly trailing?: TrailingStop | null;
  readonly timeframe_detail?: string | null;
  readonly fill_model?: string;
  readonly seed?: number;
  readonly precision?: string;
  readonly ml_engine?: MlEngineInput | null;
  readonly collect?: string;
}

export const CONFIG_KEYS = [
  'strategy',
  'exchange',
  'pairs',
  'timeframe',
  'date_range',
  'stake_amount',
  'dry_run_wallet',
  'max_open_trades',
  'fee',
  'slippage',
  'leverage',
  'params',
  'stoploss',
  'minimal_roi',
  'trailing',
  'timeframe_detail',
  'fill_model',
  'seed',
  'precision',
  'ml_engine',
  'collect',
] as const satisfies readonly (keyof ConfigInput)[];

const DEFAULTS = { wallet: 1000, fee: 0.0005, days: 90 };

export interface ResolveDeps {
  readonly strategies: Strategies;
  readonly series: SeriesStore;
  readonly instruments: InstrumentStore;
  readonly clock: Clock;
  readonly defaultExchange: string;
}

export interface ResolvedSubmission {
  readonly config: ResolvedBacktestConfig;
  /** Not part of the configuration: it changes what is stored, not what is computed from it. */
  readonly collect: CollectMode;
  readonly warnings: readonly string[];
  /** Time from which candles are needed: the start less what models learn from and the strategy's startup candles, ISO 8601. */
  readonly dataStart: string;
  /** Strategy with which the configuration was resolved. */
  readonly strategy: KnownStrategy;
  /** With precision `exchange`: the instruments of the pairs at the submission. */
  readonly instruments?: ReadonlyMap<string, InstrumentRecord> | undefined;
}

/** Where in a configuration a key of a trial's parameters belongs that is no key of `config` itself. */
function placeIn({ parameters }: DefinitionData, key: string, value: unknown): string | undefined {
  if (Object.hasOwn(parameters, key)) return `config.params.${key}`;
  // No model is what a run has without `ml_engine`.
  return ML_ENGINE_KEYS.includes(key) && value !== NO_MODEL ? `${ML_ENGINE_FIELD}.${key}` : undefined;
}

/**
 * Fills in every default of a submission and checks every value.
 * Throws RES002 (unknown strategy, known names in context), VAL001 to VAL006 (VAL006: broken strategy file, startup candles).
 */
export async function resolveConfig(deps: ResolveDeps, input: ConfigInput): Promise<ResolvedSubmission> {
  const known = await findStrategy(deps.strategies, input.strategy, NOT_FOUND);
  const strategy = known.definition;
  const params = resolveParams(strategy, input.params ?? {});
  const exchange = checkExchange(input.exchange ?? deps.defaultExchange);
  const pairs = checkPairs(input.pairs ?? strategy.pairs);
  const timeframe = checkRunTimeframe(input.timeframe ?? strategy.timeframe, strategy);
  const range = await resolveRange(deps, input.date_range ?? {}, exchange, pairs, timeframe);
  const wallet = checkNumber(input.dry_run_wallet ?? DEFAULTS.wallet, 'config.dry_run_wallet', LIMITS.wallet);
  const precision = await resolvePrecision(deps, input.precision, exchange, pairs);
  const { ml_engine, warnings: mlWarnings } = resolveMlEngine(strategy, input.ml_engine, timeframe);
  const warnings = [
    ...unknownKeyWarnings({ ...input }, CONFIG_KEYS, 'config.', (key, value) =>
      placeIn(strategy, key, value),
    ),
    ...unknownKeyWarnings({ ...input.date_range }, ['start', 'end'], 'config.date_range.'),
    ...unknownKeyWarnings({ ...input.trailing }, TRAILING_KEYS, 'config.trailing.'),
    ...precision.warnings,
    ...mlWarnings,
  ];
  const config: ResolvedBacktestConfig = {
    strategy: strategy.name,
    exchange,
    pairs,
    timeframe,
    date_range: { start: isoTime(range.start), end: isoTime(range.end) },
    stake_amount: checkStake(input.stake_amount ?? strategy.stakeAmount, wallet),
    dry_run_wallet: wallet,
    max_open_trades: checkNumber(
      input.max_open_trades ?? pairs.length,
      'config.max_open_trades',
      LIMITS.maxOpenTrades,
    ),
    fee: checkNumber(input.fee ?? DEFAULTS.fee, 'config.fee', LIMITS.rate),
    slippage: checkNumber(input.slippage ?? 0, 'config.slippage', LIMITS.rate),
    leverage: checkNumber(input.leverage ?? strategy.leverage ?? 1, 'config.leverage', LIMITS.leverage),
    params: { ...params },
    stoploss: checkNumber(input.stoploss ?? strategy.stoploss, 'config.stoploss', LIMITS.stoploss),
    minimal_roi: checkRoi(input.minimal_roi ?? strategy.minimalRoi ?? {}),
    trailing: checkTrailing(input.trailing === undefined ? (strategy.trailing ?? null) : input.trailing),
    timeframe_detail: checkDetail(input.timeframe_detail ?? null, timeframe),
    fill_model: checkOneOf(input.fill_model ?? 'freqtrade', 'config.fill_model', FILL_MODELS),
    seed: checkNumber(input.seed ?? 0, 'config.seed', LIMITS.seed),
    precision: precision.value,
    ...(ml_engine && { ml_engine }),
  };
  const startup = await known.startupCandles(params);
  const dataStart = historyStartOf(strategy, startup, timeframe, range.start, ml_engine);
  const collect = checkCollect(input.collect, 'config.collect');
  const { instruments } = precision;
  return { config, collect, warnings, dataStart: isoTime(dataStart), strategy: known, instruments };
}

const NOT_FOUND = { field: 'config.strategy', unknown: 'RES002', broken: 'VAL006' } as const;

function resolveParams(
  strategy: DefinitionData,
  overrides: Readonly<Record<string, unknown>>,
): ParameterValues {
  const resolved = resolveParameters(strategy.parameters, overrides);
  const problem = resolved.problems[0];
  if (problem) {
    throw new CodedError('VAL005', {
      message: problem.message,
      field: `config.params.${problem.parameter.slice(0, 60)}`,
      context: { problems: resolved.problems.slice(0, 20).map((each) => each.message) },
    });
  }
  for (const [name, value] of Object.entries(resolved.values)) {
    if (typeof value === 'number') checkNumber(value, `config.params.${name}`, {});
  }
  return resolved.values;
}

/** A strategy that reads a longer timeframe beside the run's cannot run on one that is longer still. */
function checkRunTimeframe(text: string, strategy: DefinitionData): Timeframe {
  const timeframe = checkTimeframe(text, 'config.timeframe');
  const tooShort = strategy.informativeTimeframes?.find(
    (each) => TIMEFRAME_MS[each] < TIMEFRAME_MS[timeframe],
  );
  if (!tooShort) return timeframe;
  throw new CodedError('VAL005', {
    message: `config.timeframe must be ${tooShort} or shorter: ${strategy.name} reads ${tooShort} candles`,
    field: 'config.timeframe',
    context: { value: timeframe, max: tooShort },
  });
}

async function resolveRange(
  deps: ResolveDeps,
  range: NonNullable<ConfigInput['date_range']>,
  exchange: string,
  pairs: readonly string[],
  timeframe: Timeframe,
): Promise<{ start: number; end: number }> {
  const givenStart = range.start === undefined ? undefined : parseTime(range.start);
  const givenEnd = range.end === undefined ? undefined : parseTime(range.end);
  const broken =
    (range.start !== undefined && givenStart === undefined) ||
    (range.end !== undefined && givenEnd === undefined);
  const end = givenEnd ?? (broken ? 0 : await newestCandleEnd(deps, exchange, pairs, timeframe));
  const start = givenStart ?? end - DEFAULTS.days * DAY_MS;
  if (broken || start >= end) {
    throw new CodedError('VAL001', {
      ...(broken && { message: `Invalid date range: start and end must be ${ACCEPTED_TIMES}` }),
      field: 'config.date_range',
      context: {
        start: range.start?.slice(0, 100) ?? (broken ? null : isoTime(start)),
        end: range.end?.slice(0, 100) ?? (broken ? null : isoTime(end)),
      },
    });
  }
  return { start, end };
}

/** Close time of the newest stored candle of the pairs; without any, the start of the candle now forming. */
async function newestCandleEnd(
  deps: ResolveDeps,
  exchange: string,
  pairs: readonly string[],
  timeframe: Timeframe,
): Promise<number> {
  const step = TIMEFRAME_MS[timeframe];
  const stored = await deps.series.getMany(
    exchange,
    pairs.map((symbol) => ({ symbol, timeframe })),
  );
  const newest = Math.max(...[...stored.values()].map((info) => Date.parse(info.last)));
  return Number.isFinite(newest) ? newest + step : Math.floor(deps.clock.now() / step) * step;
}
