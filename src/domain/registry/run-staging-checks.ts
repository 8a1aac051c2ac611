import type { RegisteredVersion, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import type { LookAheadState } from '#contract/config/look-ahead.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { SIGNALS_NOT_CHECKED } from '#contract/values/signals-limits.ts';
import type { BacktestOutcome } from '#engine/backtest.ts';
import { certifyLookAhead } from '#engine/look-ahead/certify.ts';
import type { PairData } from '#engine/run/history.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import { describeCertificate, isPutToTest, sentences } from '../inputs/search-look-ahead.ts';
import type { StrategyWithDigest } from '../ports.ts';

/** Smoke run: inputs and outcome. */
export interface SmokeRun {
  readonly registered: RegisteredVersion;
  /** Loads the strategy again, with no state left from another run. */
  readonly load: StrategyWithDigest['load'];
  readonly replaced?: StrategyWithDigest['replaced'];
  readonly pause: () => Promise<void>;
  readonly config: ResolvedBacktestConfig;
  readonly pairs: readonly PairData[];
  readonly outcome: BacktestOutcome;
  /** Digest of the source that this process runs. */
  readonly strategyDigest: string;
  /** The container image that this process runs in, as its task names it; null outside of one. */
  readonly image: string | null;
  /** Runs the same again. */
  readonly again: () => Promise<BacktestOutcome>;
}

/**
 * Checks of a staging that need a task: the running code is the registered code, the run left well-formed orders, a
 * second run leaves the same ones, and neither columns nor callbacks use future candles. Throws only on a bug: a
 * strategy that cannot run has failed in the smoke run already.
 */
export async function runStagingChecks(run: SmokeRun): Promise<ValidationCheck[]> {
  const checks = [codeCheck(run), smokeCheck(run)];
  checks.push(determinismCheck(run.outcome, await run.again()));
  checks.push(await lookAheadCheck(run));
  return checks;
}

/** A container must run the resolved image with the registered source; elsewhere another source is a warning. */
function codeCheck({ registered, image, strategyDigest, config }: SmokeRun): ValidationCheck {
  const sameSource = strategyDigest === registered.strategy_digest;
  const { image_digest } = registered;
  const otherImage = image !== null && image_digest !== null && !image.endsWith(`@${image_digest}`);
  const mustBeSame = image !== null && image_digest !== null;
  // The platform's own image runs a file of signals, which has no code.
  const failed = config.signals === undefined && (otherImage || (mustBeSame && !sameSource));
  return {
    name: 'code',
    status: failed ? 'failed' : sameSource ? 'passed' : 'warning',
    message: describeCode(registered, image, sameSource),
    value: strategyDigest,
    threshold: registered.strategy_digest,
  };
}

/** Registered image and running code, for people. */
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
  const ran = `${outcome.candles} candles of ${formatCount(pairs.length, 'pair')} up to ${config.date_range.end}`;
  return outcome.trades.length === 0
    ? { ...base, status: 'warning', message: `${ran}: no trade to check` }
    : {
        ...base,
        status: 'passed',
        message: `${ran}: ${formatCount(outcome.trades.length, 'trade')}, all well-formed`,
      };
}

/** Problems of a trade; empty for a well-formed one. */
function problemOf(trade: SimulatedTrade, pairs: readonly string[]): string[] {
  const positive = {
    entry: trade.entryPrice,
    exit: trade.exitPrice,
    amount: trade.amount,
    stake: trade.stake,
  };
  const invalid = Object.entries(positive).find(([, value]) => !(Number.isFinite(value) && value > 0));
  if (invalid) return [`A trade of ${trade.pair} has ${invalid[1]} as its ${invalid[0]}`];
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
  return {
    ...base,
    status: 'passed',
    message: `Two runs gave the same ${formatCount(first.trades.length, 'trade')}`,
  };
}

/** What the certificate of a staging does not cover. */
const ONE_PROCESS =
  'searched in one process: code that deceives can keep what it has seen of later candles, which touchstone check finds';

async function lookAheadCheck({ load, replaced, pause, config, pairs }: SmokeRun): Promise<ValidationCheck> {
  const base = { name: 'look_ahead', threshold: 'certified' satisfies LookAheadState };
  if (config.signals !== undefined) {
    return { ...base, status: 'warning', value: 'not_checked', message: SIGNALS_NOT_CHECKED };
  }
  try {
    const certificate = await certifyLookAhead({ load, replaced, config, pairs }, { pause });
    const found = sentences(certificate.findings);
    const message = describeCertificate(certificate);
    if (found.length === 0) {
      return isPutToTest(certificate)
        ? { ...base, status: 'passed', value: 'certified', message: `${message}; ${ONE_PROCESS}` }
        : { ...base, status: 'warning', value: 'not_checked', message };
    }
    return { ...base, status: 'failed', value: 'found', message: `${found[0]} (${message})` };
  } catch (error) {
    // The strategy ran on all of these candles: it fails on a part of them, or there are too few.
    const message = error instanceof Error ? error.message : String(error);
    return { ...base, status: 'failed', value: 'not_checked', message };
  }
}
