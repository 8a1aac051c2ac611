import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  BACKTEST_DEFAULTS,
  BACKTEST_LIMITS,
  FILL_MODELS,
  GAP_TOLERANCE,
  PRECISIONS,
} from '#contract/values/backtest-limits.ts';
import { JOB_STATUSES } from '#contract/values/job-limits.ts';
import { withoutReplacedLimit } from '#contract/values/repeated-config.ts';
import { TIMEFRAMES } from '#contract/values/timeframes.ts';
import { TRADING_MODES } from '#contract/values/trading-modes.ts';
import { type AccountOptions, accountFields, addAccountFlags } from './account-options.ts';
import {
  boundsText,
  costRatio,
  finiteNumber,
  given,
  integer,
  listOf,
  parameter,
  positiveNumber,
  stake,
  UsageError,
} from './options.ts';

export const tradingModeOption = () =>
  new Option(
    '--trading-mode <mode>',
    `spot: pairs such as BTC/USDT, no shorts, leverage or funding (default: ${BACKTEST_DEFAULTS.trading_mode})`,
  ).choices(TRADING_MODES);

/** Options that choose candles and instruments: of a backtest and of a hyperopt job. */
export function addMarketOptions(command: Command): Command {
  return command
    .option('--exchange <key>', "exchange of the candles (default: the platform's)")
    .option('--offline', 'use stored candles; collect nothing')
    .addOption(tradingModeOption())
    .option('--pairs <list>', 'comma-separated pairs, such as BTC/USDT:USDT,ETH/USDT:USDT; in spot BTC/USDT')
    .option('--timeframe <timeframe>', `${TIMEFRAMES.join(', ')} (default: the strategy's)`)
    .addOption(
      new Option(
        '--precision <precision>',
        'exchange: apply price ticks, amount steps and minimum orders (default: exchange if every instrument is stored)',
      ).choices(PRECISIONS),
    );
}

/** Options of the account and its costs: of a backtest and of a hyperopt job. */
export function addAccountOptions(command: Command): Command {
  return addAccountFlags(command)
    .option('--stake <amount>', 'stake per trade, or unlimited', stake)
    .option(
      '--wallet <amount>',
      `starting balance (default: ${BACKTEST_DEFAULTS.dry_run_wallet})`,
      positiveNumber,
    )
    .option(
      '--max-open-trades <n>',
      `maximum open trades, ${boundsText(BACKTEST_LIMITS.max_open_trades)} (default: the number of pairs, with a universe its n)`,
      integer(BACKTEST_LIMITS.max_open_trades),
    )
    .option('--fee <ratio>', `fee per side (default: ${BACKTEST_DEFAULTS.fee})`, costRatio)
    .option(
      '--slippage <ratio>',
      `adverse price change of a market fill (default: ${BACKTEST_DEFAULTS.slippage})`,
      costRatio,
    )
    .option(
      '--slippage-model <name=value>',
      'costs of market fills estimated from candles: spread=edge or corwin_schultz, spread_days=30, impact=1, participation=0.025; repeatable',
      parameter,
    )
    .option('--leverage <times>', "leverage (default: the strategy's)", positiveNumber);
}

export const EXPERIMENT = ['--experiment <name>', 'experiment name'] as const;
export const STATUS = () => new Option('--status <status>', 'only jobs in this status').choices(JOB_STATUSES);

/** Every setting of a run. */
export function addRunOptions(command: Command): Command {
  const ranged = addMarketOptions(command)
    .option(
      '--start <time>',
      `ISO 8601, UTC (default: ${BACKTEST_DEFAULTS.date_range_days} days before the end; of imported candles the first that all pairs have, plus startup)`,
    )
    .option(
      '--end <time>',
      'ISO 8601, UTC, exclusive (default: the newest stored candle; of imported candles the last that all pairs have)',
    )
    .option(
      '--universe <name=value>',
      'choose the pairs over time by volume: n=20, lookback_days=30, rebalance=daily, weekly or monthly, min_age_days=90, delisting_haircut=0.05; --pairs are the candidates (default: all stored); repeatable',
      parameter,
    )
    .addOption(
      new Option(
        '--timeframe-detail <timeframe>',
        'shorter timeframe that decides the order of events inside a candle (default: none)',
      ).choices(TIMEFRAMES),
    )
    .option('--no-timeframe-detail', 'decide that order by rule');
  const filled = addAccountOptions(ranged).addOption(
    new Option(
      '--fill-model <model>',
      `fills inside a candle; conservative: by the path on which the trade is worth less at the close (default: ${BACKTEST_DEFAULTS.fill_model})`,
    ).choices(FILL_MODELS),
  );
  return addExitOptions(filled)
    .option(
      '--max-missing <ratio>',
      `candles that may be lost of a series; closed times and times without trades do not count (default: ${GAP_TOLERANCE})`,
      costRatio,
    )
    .option(
      '--seed <n>',
      `seed of all random numbers (default: ${BACKTEST_DEFAULTS.seed})`,
      integer(BACKTEST_LIMITS.seed),
    )
    .option('--param <name=value>', 'strategy parameter; repeatable', parameter, {})
    .option(
      '--ml <name=value>',
      'ML setting, such as model_type=xgboost; one is enough to run with ML models; repeatable',
      parameter,
      {},
    )
    .option(
      '--robustness <name=value>',
      'further test of the result: cost_sweep=true, random_entries=999, permutations=199 or capacity=true; repeatable',
      parameter,
      {},
    );
}

function addExitOptions(command: Command): Command {
  return command
    .option('--stoploss <ratio>', "such as -0.08 (default: the strategy's)", finiteNumber)
    .option(
      '--roi <minutes=ratio>',
      "profit ratio that closes a trade from these minutes on, such as 60=0.01; repeatable (default: the strategy's)",
      roiStep,
      {},
    )
    .option(
      '--trailing <name=value>',
      "trailing stop: positive=0.02, offset=0.03, only_offset_is_reached=true; repeatable (default: the strategy's)",
      parameter,
      {},
    )
    .option('--no-trailing', "disable the strategy's trailing stop")
    .option(
      '--protection <method,name=value...>',
      "lock pairs after losses, such as StoplossGuard,trade_limit=3,lookback_period_candles=24; repeatable (default: the strategy's)",
      protection,
    )
    .option('--no-protections', "disable the strategy's protections");
}

/** Adds a protection to those before it. */
function protection(text: string, previous: readonly Config[] = []): Config[] {
  const [method = '', ...settings] = text.split(',');
  if (!settings.every((each) => /^[^=]+=/.test(each)) || !/^\w+$/.test(method)) {
    throw new InvalidArgumentError('Pass method,name=value, such as CooldownPeriod,stop_duration=60.');
  }
  const values = settings.reduce((all: Record<string, unknown>, each) => parameter(each, all), {});
  return [...previous, { method, ...values }];
}

/** Adds one step `minutes=ratio` of an ROI table. */
function roiStep(text: string, previous: Readonly<Record<string, number>>): Record<string, number> {
  const [, minutes, ratio] = /^(\d+)=(.+)$/.exec(text) ?? [];
  if (minutes && Number.isFinite(Number(ratio))) return { ...previous, [minutes]: Number(ratio) };
  throw new InvalidArgumentError('Pass minutes=ratio, such as 60=0.01.');
}

export interface RunOptions extends AccountOptions {
  readonly exchange?: string;
  readonly offline?: boolean;
  readonly tradingMode?: string;
  readonly pairs?: string;
  readonly timeframe?: string;
  readonly precision?: string;
  readonly start?: string;
  readonly end?: string;
  readonly universe?: Readonly<Record<string, unknown>>;
  /** False with --no-timeframe-detail. */
  readonly timeframeDetail?: string | false;
  readonly stake?: number | 'unlimited';
  readonly wallet?: number;
  readonly maxOpenTrades?: number;
  readonly fee?: number;
  readonly slippage?: number;
  readonly slippageModel?: Readonly<Record<string, unknown>>;
  readonly leverage?: number;
  readonly maxMissing?: number;
  readonly fillModel?: string;
  readonly stoploss?: number;
  readonly roi?: Readonly<Record<string, number>>;
  /** False with --no-trailing. */
  readonly trailing?: Readonly<Record<string, unknown>> | boolean;
  readonly protection?: readonly Config[];
  /** False with --no-protections. */
  readonly protections?: boolean;
  readonly seed?: number;
  readonly param?: Readonly<Record<string, unknown>>;
  readonly ml?: Readonly<Record<string, unknown>>;
  readonly robustness?: Readonly<Record<string, unknown>>;
}

type Config = Readonly<Record<string, unknown>>;

/** The universe with the options in place of its fields. Named pairs replace its candidates. */
function universeWith(before: unknown, { universe, pairs }: RunOptions): Config | undefined {
  if (universe === undefined && (before == null || pairs === undefined)) return undefined;
  const { candidates, ...rules } = Object(before);
  return { ...rules, ...(candidates && !pairs && { candidates }), ...universe };
}

/**
 * A configuration with the options in place of its fields. Parameters, dates and ML settings that no option names stay.
 * Throws {@link UsageError} for options that contradict each other.
 */
export function configWith(config: Config, options: RunOptions): Config {
  if (options.protections === false && options.protection)
    throw new UsageError('Pass either --protection or --no-protections.');
  const merged = (name: string, values: Config) =>
    Object.keys(values).length > 0 ? { ...Object(config[name]), ...values } : undefined;
  const { trailing, ml = {}, param = {}, robustness = {} } = options;
  return {
    ...withoutReplacedLimit(config, accountFields(options, config)),
    ...given({
      exchange: options.exchange,
      collect: options.offline ? 'never' : undefined,
      trading_mode: options.tradingMode,
      pairs: options.pairs && listOf(options.pairs),
      timeframe: options.timeframe,
      date_range: merged('date_range', given({ start: options.start, end: options.end })),
      universe: universeWith(config.universe, options),
      timeframe_detail: options.timeframeDetail === false ? null : options.timeframeDetail,
      stake_amount: options.stake,
      dry_run_wallet: options.wallet,
      max_open_trades: options.maxOpenTrades,
      fee: options.fee,
      slippage: options.slippage,
      slippage_model: merged('slippage_model', options.slippageModel ?? {}),
      leverage: options.leverage,
      ...accountFields(options, config),
      max_missing: options.maxMissing,
      fill_model: options.fillModel,
      stoploss: options.stoploss,
      minimal_roi: options.roi,
      trailing: trailing === false ? null : trailing === true ? undefined : trailing,
      protections: options.protection,
      precision: options.precision,
      seed: options.seed,
      params: merged('params', param),
      ml_engine: merged('ml_engine', ml),
      robustness: merged('robustness', robustness),
    }),
    ...(options.protections === false && { protections: [] }),
  };
}
