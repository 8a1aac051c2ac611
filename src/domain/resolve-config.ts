import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { historyStart } from '#engine/run/history.ts';
import type { StrategyRegistry } from '#engine/strategies/registry.ts';
import type { ParameterValues, RoiTable, StrategyDefinition, TrailingStop } from '#engine/strategy.ts';
import { DAY_MS, isTimeframe, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { Clock, SeriesStore } from './ports.ts';
import { unknownKeyWarnings } from './unknown-keys.ts';
import { checkNumber, checkOneOf, checkSymbol, checkTimeframe, isoTime, parseTime } from './validate.ts';

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
] as const satisfies readonly (keyof ConfigInput)[];

/** Bounds of a submission's numbers. The OpenAPI document states the same. */
export const LIMITS = {
  pairs: 200,
  wallet: { min: 0, aboveMin: true, max: 1e12 },
  stake: { min: 0, aboveMin: true, max: 1e12 },
  maxOpenTrades: { min: 1, max: 1000, integer: true },
  rate: { min: 0, max: 0.1 },
  leverage: { min: 1, max: 125 },
  stoploss: { min: -1, aboveMin: true, max: 0, belowMax: true },
  seed: { min: 0, max: 2 ** 32 - 1, integer: true },
  roiSteps: 50,
} as const;

const DEFAULTS = { wallet: 1000, fee: 0.0005, days: 90 };
const MINUTES_PER_YEAR = 525_600;
const EXCHANGE = /^[a-z0-9]{1,40}$/;

export interface ResolveDeps {
  readonly strategies: StrategyRegistry;
  readonly series: SeriesStore;
  readonly clock: Clock;
  readonly defaultExchange: string;
}

export interface ResolvedSubmission {
  readonly config: ResolvedBacktestConfig;
  readonly warnings: readonly string[];
  /** Time from which candles are needed: the start less the strategy's startup candles, ISO 8601. */
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
  const timeframe = checkTimeframe(input.timeframe ?? strategy.timeframe, 'config.timeframe');
  const range = await resolveRange(deps, input.date_range ?? {}, exchange, pairs, timeframe);
  const wallet = checkNumber(input.dry_run_wallet ?? DEFAULTS.wallet, 'config.dry_run_wallet', LIMITS.wallet);
  const warnings = [
    ...unknownKeyWarnings({ ...input }, CONFIG_KEYS, 'config.'),
    ...unknownKeyWarnings({ ...input.date_range }, ['start', 'end'], 'config.date_range.'),
    ...unknownKeyWarnings({ ...input.trailing }, TRAILING_KEYS, 'config.trailing.'),
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
  };
  const dataStart = historyStart(strategy, params, timeframe, range.start);
  return { config, warnings, dataStart: isoTime(dataStart) };
}

const FILL_MODELS = ['freqtrade', 'conservative'] as const;
const TRAILING_KEYS = ['positive', 'offset', 'only_offset_is_reached'];

/** The strategy of that name; throws RES002 with the known names. */
export function findStrategy(strategies: StrategyRegistry, name: string): StrategyDefinition {
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
  return resolved.values;
}

function checkExchange(exchange: string): string {
  if (!EXCHANGE.test(exchange)) {
    throw new CodedError('VAL005', {
      message: 'config.exchange must be an exchange key such as binanceusdm or sim',
      field: 'config.exchange',
      context: { value: exchange.slice(0, 100) },
    });
  }
  return exchange;
}

function checkPairs(pairs: readonly string[]): string[] {
  if (pairs.length === 0 || pairs.length > LIMITS.pairs) {
    throw new CodedError('VAL005', {
      message: `config.pairs must hold 1 to ${LIMITS.pairs} symbols`,
      field: 'config.pairs',
      context: { count: pairs.length, min: 1, max: LIMITS.pairs },
    });
  }
  const seen = new Set<string>();
  for (const [index, pair] of pairs.entries()) {
    checkSymbol(pair, `config.pairs.${index}`);
    if (seen.has(pair)) {
      throw new CodedError('VAL005', {
        message: `config.pairs names ${pair} twice`,
        field: `config.pairs.${index}`,
        context: { value: pair },
      });
    }
    seen.add(pair);
  }
  return [...pairs];
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

function checkStake(stake: number | string, wallet: number): number | 'unlimited' {
  if (stake === 'unlimited') return stake;
  if (typeof stake === 'string') {
    throw new CodedError('VAL005', {
      message: 'config.stake_amount must be a number or "unlimited"',
      field: 'config.stake_amount',
      context: { value: stake.slice(0, 100), allowed: ['unlimited'] },
    });
  }
  checkNumber(stake, 'config.stake_amount', LIMITS.stake);
  if (stake > wallet) {
    throw new CodedError('VAL005', {
      message: 'config.stake_amount must not exceed config.dry_run_wallet: no trade could be opened',
      field: 'config.stake_amount',
      context: { value: stake, max: wallet },
    });
  }
  return stake;
}

function checkRoi(table: RoiTable): Record<string, number> {
  const steps = Object.entries(table);
  if (steps.length > LIMITS.roiSteps) {
    throw new CodedError('VAL005', {
      message: `config.minimal_roi must hold at most ${LIMITS.roiSteps} steps`,
      field: 'config.minimal_roi',
      context: { count: steps.length, max: LIMITS.roiSteps },
    });
  }
  for (const [minutes, ratio] of steps) {
    const field = `config.minimal_roi.${minutes.slice(0, 20)}`;
    checkNumber(/^\d{1,9}$/.test(minutes) ? Number(minutes) : Number.NaN, `${field} (minutes)`, {
      min: 0,
      max: 10 * MINUTES_PER_YEAR,
      integer: true,
    });
    checkNumber(ratio, field, { min: -1, max: 1000 });
  }
  return Object.fromEntries(steps);
}

function checkTrailing(trailing: TrailingStop | null): ResolvedBacktestConfig['trailing'] {
  if (trailing === null) return null;
  const { positive, offset = 0, only_offset_is_reached = false } = trailing;
  if (positive !== undefined) checkNumber(positive, 'config.trailing.positive', POSITIVE_RATIO);
  checkNumber(offset, 'config.trailing.offset', { min: 0, max: 10 });
  if (only_offset_is_reached && offset <= 0) {
    throw new CodedError('VAL004', {
      message: 'config.trailing.offset is required with only_offset_is_reached',
      field: 'config.trailing.offset',
      context: {},
    });
  }
  if (positive !== undefined && offset > 0 && offset <= positive) {
    throw new CodedError('VAL005', {
      message:
        'config.trailing.offset must be above config.trailing.positive: the stop would start at a loss',
      field: 'config.trailing.offset',
      context: { value: offset, positive },
    });
  }
  return { ...(positive === undefined ? {} : { positive }), offset, only_offset_is_reached };
}

const POSITIVE_RATIO = { min: 0, aboveMin: true, max: 1 } as const;

function checkDetail(detail: string | null, timeframe: Timeframe): Timeframe | null {
  if (detail === null) return null;
  checkTimeframe(detail, 'config.timeframe_detail');
  if (!isTimeframe(detail) || TIMEFRAME_MS[detail] >= TIMEFRAME_MS[timeframe]) {
    throw new CodedError('VAL005', {
      message: 'config.timeframe_detail must be finer than config.timeframe',
      field: 'config.timeframe_detail',
      context: { value: detail, timeframe },
    });
  }
  return detail;
}
