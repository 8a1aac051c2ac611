import type { RegisteredVersion, ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { ValidationCheck } from '#contract/validation.ts';
import type { BacktestOutcome } from '#engine/backtest.ts';
import type { Candles } from '#engine/candles.ts';
import { findLookAhead, type LookAheadReport } from '#engine/causality.ts';
import { fillGaps } from '#engine/run/fill-gaps.ts';
import { startupRows, trainingRows } from '#engine/run/history.ts';
import { tradedRange } from '#engine/run/pair-history.ts';
import type { Trade } from '#engine/simulator/types.ts';
import type { ParameterValues, StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { PairCandles } from '../load-candles.ts';

/** What a smoke run left, and what it ran on. */
export interface SmokeRun {
  readonly registered: RegisteredVersion;
  readonly strategy: StrategyDefinition;
  readonly config: ResolvedBacktestConfig;
  readonly pairs: readonly PairCandles[];
  readonly outcome: BacktestOutcome;
  /** Digest of the source that this process runs. */
  readonly strategyDigest: string;
  /** The container image that this process runs in, as its task names it; null outside of one. */
  readonly image: string | null;
  /** Runs the same again. */
  readonly again: () => Promise<BacktestOutcome>;
}

/** Truncated histories over all pairs: 400 of 1,000 candles take about a second; each pair gets 24 at the least. */
const HISTORIES = 400;
/** With models each history has its features and predictions too. */
const HISTORIES_WITH_MODELS = 100;
const LEAST_HISTORIES = 24;

/**
 * The checks of a staging that need a task: that what runs is what was registered, that the run left well-formed orders,
 * that a second one leaves the same, and that no signal knew the future. Nothing throws but a fault of ours: a strategy
 * that cannot run has failed in the smoke run already.
 */
export async function runStagingChecks(run: SmokeRun): Promise<ValidationCheck[]> {
  const checks = [codeCheck(run), smokeCheck(run)];
  checks.push(determinismCheck(run.outcome, await run.again()));
  checks.push(lookAheadCheck(run));
  return checks;
}

/** A container of a resolved image must be that image with the registered source; elsewhere another source is told. */
function codeCheck({ registered, image, strategyDigest }: SmokeRun): ValidationCheck {
  const sameSource = strategyDigest === registered.strategy_digest;
  const { image_digest } = registered;
  const otherImage = image !== null && image_digest !== null && !image.endsWith(`@${image_digest}`);
  const mustBeSame = image !== null && image_digest !== null;
  const failed = otherImage || (mustBeSame && !sameSource);
  return {
    name: 'code',
    status: failed ? 'failed' : sameSource ? 'passed' : 'warning',
    message: describeCode(registered, image, sameSource),
    value: strategyDigest,
    threshold: registered.strategy_digest,
  };
}

/** Which image was registered and which code runs here, for people. */
export function describeCode(
  registered: RegisteredVersion,
  image: string | null,
  sameSource: boolean,
): string {
  const digest = registered.image_digest ? ` (${registered.image_digest})` : '';
  const ran = image === null ? 'the current code of this machine ran' : `image ${image} ran`;
  const source = sameSource ? 'the registered source' : 'another source than the registered one';
  return `Registered with image ${registered.container_image_uri}${digest}; ${ran}, with ${source} of the strategy`;
}

function smokeCheck({ outcome, config, pairs }: SmokeRun): ValidationCheck {
  const base = { name: 'smoke_run', value: outcome.trades.length, threshold: null };
  const malformed = outcome.trades.flatMap((trade) => problemOf(trade, config.pairs)).at(0);
  if (malformed) return { ...base, status: 'failed', message: malformed };
  const ran = `${outcome.candles} candles of ${pairs.length} pairs up to ${config.date_range.end}`;
  return outcome.trades.length === 0
    ? { ...base, status: 'warning', message: `${ran}: no order, so that none could be looked at` }
    : { ...base, status: 'passed', message: `${ran}: ${outcome.trades.length} trades, all well-formed` };
}

/** What is wrong with a trade; nothing, mostly. */
function problemOf(trade: Trade, pairs: readonly string[]): string[] {
  const positive = {
    entry: trade.entryPrice,
    exit: trade.exitPrice,
    amount: trade.amount,
    stake: trade.stake,
  };
  const odd = Object.entries(positive).find(([, value]) => !(Number.isFinite(value) && value > 0));
  if (odd) return [`A trade of ${trade.pair} has ${odd[1]} as its ${odd[0]}`];
  if (!pairs.includes(trade.pair))
    return [`A trade is of ${trade.pair}, which the configuration does not have`];
  if (trade.closedAt < trade.openedAt) return [`A trade of ${trade.pair} ends before it begins`];
  return [];
}

function determinismCheck(first: BacktestOutcome, second: BacktestOutcome): ValidationCheck {
  const base = { name: 'determinism', value: null, threshold: null };
  const differing = first.trades.findIndex(
    (trade, index) => JSON.stringify(trade) !== JSON.stringify(second.trades[index]),
  );
  if (first.trades.length !== second.trades.length || differing !== -1) {
    return {
      ...base,
      status: 'failed',
      message: `Two runs gave different orders: ${first.trades.length} and ${second.trades.length} trades${
        differing === -1 ? '' : `, the first difference is trade ${differing + 1}`
      }`,
    };
  }
  return { ...base, status: 'passed', message: `Two runs gave the same ${first.trades.length} trades` };
}

function lookAheadCheck({ strategy, config, pairs }: SmokeRun): ValidationCheck {
  const base = { name: 'look_ahead', threshold: 0 };
  const candles = new Map(pairs.map((each) => [each.pair, filled(each, config)] as const));
  const { params, timeframe, ml_engine } = config;
  const least = startupRows(strategy, params, timeframe, ml_engine) + trainingRows(timeframe, ml_engine);
  const searched = new Map([...candles].filter(([, { timestamp }]) => timestamp.length > least + 10));
  if (searched.size === 0) {
    return { ...base, status: 'failed', value: null, message: 'No pair has candles enough to be searched' };
  }
  const report = search(strategy, config, searched);
  if (typeof report === 'string') return { ...base, status: 'failed', value: null, message: report };
  const { findings, histories, entrySignals } = report;
  const first = findings[0];
  if (!first) {
    const message = `${histories} truncated histories of ${searched.size} pairs, ${entrySignals} entry signals: all as with the whole history`;
    return { ...base, status: 'passed', value: 0, message };
  }
  const at = new Date(first.time).toISOString();
  return {
    ...base,
    status: 'failed',
    value: findings.length,
    message: `${first.kind}: ${first.column} of ${first.pair} at ${at} was ${first.before} when ${first.known} candles were known, and is ${first.after} with all`,
  };
}

/** The report, or why the strategy could not be searched. */
function search(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  candles: ReadonlyMap<string, Candles>,
): LookAheadReport | string {
  const { ml_engine } = config;
  const histories = ml_engine ? HISTORIES_WITH_MODELS : HISTORIES;
  try {
    return findLookAhead(
      { ...strategy, timeframe: config.timeframe },
      config.params as ParameterValues,
      candles,
      {
        histories: Math.max(LEAST_HISTORIES, Math.floor(histories / candles.size)),
        ml: ml_engine && { config: ml_engine, seed: config.seed, start: tradedRange(config).start },
      },
    );
  } catch (error) {
    // It ran on the whole history: what it cannot do is to run on a part of it.
    return `The strategy failed on a truncated history: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function filled({ candles }: PairCandles, config: ResolvedBacktestConfig) {
  return fillGaps(candles, TIMEFRAME_MS[config.timeframe]).candles;
}
