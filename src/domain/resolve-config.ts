import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { BacktestError } from '#engine/run/errors.ts';
import { historyStart } from '#engine/run/history.ts';
import type { StrategyRegistry } from '#engine/strategies/registry.ts';
import type { ParameterValues, StrategyDefinition, TrailingStop } from '#engine/strategy.ts';
import { DAY_MS, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import {
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
import type { Clock, SeriesStore } from './ports.ts';
import { type MlEngineInput, resolveMlEngine } from './resolve-ml-engine.ts';
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
  readonly ml_engine?: MlEngineInput | null;
}

const CONFIG_KEYS = [
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
  'ml_engine',
] as const satisfies readonly (keyof ConfigInput)[];

const DEFAULTS = { wallet: 1000, fee: 0.0005, days: 90 };

export interface ResolveDeps {
  readonly strategies: StrategyRegistry;
  readonly series: SeriesStore;
  readonly clock: Clock;
  readonly defaultExchange: string;
}

export interface ResolvedSubmission {
  readonly config: ResolvedBacktestConfig;
  readonly warnings: readonly string[];
  /** Time from which candles are needed: the start less what models learn from and the strategy's startup candles, ISO 8601. */
  readonly dataStart: string;
}

/**
 * Fills in every default of a submission and checks every value.
 * Throws RES002 (unknown strategy, known names in context), VAL001 to VAL006.
 */
export async function resolveConfig(deps: ResolveDeps, input: ConfigInput): Promise<ResolvedSubmission> {
  const strategy = findStrategy(deps.strategies, input.strategy);
  const params = resolveParams(deps.strategies, strategy, input.params ?? {});
  const exchange = checkExchange(input.exchange ?? deps.defaultExchange);
  const pairs = checkPairs(input.pairs ?? strategy.pairs);
  const timeframe = checkRunTimeframe(input.timeframe ?? strategy.timeframe, strategy);
  const range = await resolveRange(deps, input.date_range ?? {}, exchange, pairs, timeframe);
  const wallet = checkNumber(input.dry_run_wallet ?? DEFAULTS.wallet, 'config.dry_run_wallet', LIMITS.wallet);
  const { ml_engine, warnings: mlWarnings } = resolveMlEngine(strategy, input.ml_engine, timeframe);
  const warnings = [
    ...unknownKeyWarnings({ ...input }, CONFIG_KEYS, 'config.'),
    ...unknownKeyWarnings({ ...input.date_range }, ['start', 'end'], 'config.date_range.'),
    ...unknownKeyWarnings({ ...input.trailing }, TRAILING_KEYS, 'config.trailing.'),
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
    ...(ml_engine && { ml_engine }),
  };
  const dataStart = dataStartOf(strategy, params, timeframe, range.start, ml_engine);
  return { config, warnings, dataStart: isoTime(dataStart) };
}

function dataStartOf(...run: Parameters<typeof historyStart>): number {
  try {
    return historyStart(...run);
  } catch (cause) {
    if (!(cause instanceof BacktestError)) throw cause;
    throw new CodedError('VAL006', { message: cause.message, field: 'config.params', cause });
  }
}

/** The strategy of that name; throws RES002 with the known names. */
function findStrategy(strategies: StrategyRegistry, name: string): StrategyDefinition {
  const found = strategies.get(name);
  if (found) return found;
  throw new CodedError('RES002', {
    message: `Strategy ${JSON.stringify(name.slice(0, 100))} not found`,
    field: 'config.strategy',
    context: { strategy: name.slice(0, 100), known: strategies.names() },
  });
}

function resolveParams(
  strategies: StrategyRegistry,
  strategy: StrategyDefinition,
  overrides: Readonly<Record<string, unknown>>,
): ParameterValues {
  const resolved = strategies.resolveParams(strategy, overrides);
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
function checkRunTimeframe(text: string, strategy: StrategyDefinition): Timeframe {
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
