import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type LookAhead, MAX_LOOK_AHEAD_FINDINGS, notChecked } from '#contract/config/look-ahead.ts';
import { SIGNALS_NOT_CHECKED } from '#contract/values/signals-limits.ts';
import type { BacktestOutcome } from '#engine/backtest.ts';
import type { LookAheadCertificate } from '#engine/look-ahead/certify.ts';
import type { LookAheadFinding } from '#engine/look-ahead/findings.ts';
import { sampleLookAhead } from '#engine/look-ahead/search.ts';
import { hash32 } from '#engine/random.ts';
import type { PairData } from '#engine/run/history.ts';
import type { StrategyWithDigest } from '../ports.ts';

export interface SampleDeps {
  /** Processor time of this process so far, ms. */
  readonly processorMs: () => number;
  readonly pause: () => Promise<void>;
}

/**
 * Samples a finished backtest for look-ahead bias. With the robustness of its report this takes at most 10 % of the processor time. The
 * number of cuts depends on the machine, so it belongs to the job and not to the result, whose bytes are a function of its input.
 */
export async function sampleBacktest(
  { processorMs, pause }: SampleDeps,
  { definition, load, digest }: StrategyWithDigest,
  run: {
    readonly config: ResolvedBacktestConfig;
    readonly pairs: readonly PairData[];
    readonly outcome: BacktestOutcome;
  },
): Promise<LookAhead> {
  const { config, pairs, outcome } = run;
  if (config.signals !== undefined) return notChecked(SIGNALS_NOT_CHECKED);
  const { indicators_ms, simulate_ms, robustness_ms, requested_ms } = outcome.timing;
  const { cuts, rows, findings, reason, ...sample } = await sampleLookAhead(
    { load, config, pairs },
    {
      strategy: definition,
      spent: processorMs,
      pause,
      // Tests on request are a part of the work that was asked for, like the run itself.
      used: robustness_ms - requested_ms,
      runMs: indicators_ms + simulate_ms,
      opened: outcome.table.openedAt,
      seed: config.seed ^ hash32(digest),
    },
  );
  if (cuts === 0) return notChecked(`not_checked: ${reason}`);
  const message =
    `sampled: ${sampled(cuts, rows, sample.pairs)} ` +
    (findings.length === 0 ? 'Everything was the same as with all candles.' : 'Look-ahead bias was found.');
  return { state: 'sampled', message, cuts, rows, pairs: [...sample.pairs], findings: sentences(findings) };
}

function sampled(cuts: number, rows: number, pairs: readonly string[]): string {
  return `${count(cuts, 'cut')} in ${count(rows, 'candle')} of ${pairs.join(', ')}.`;
}

/** Look-ahead warnings of a job; empty without findings. */
export function lookAheadWarnings({ findings }: LookAhead): string[] {
  const [first] = findings;
  if (first === undefined) return [];
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more, see look_ahead)` : '';
  return [
    `LOOK-AHEAD BIAS: the strategy uses candles that are not known yet, so this result cannot be earned. ${first}${more}`,
  ];
}

/** Sentences of findings, each with its kind. */
export function sentences(findings: readonly LookAheadFinding[]): string[] {
  return findings.slice(0, MAX_LOOK_AHEAD_FINDINGS).map(({ kind, message }) => `${kind}: ${message}`);
}

/** True when the run had an entry signal: without one no order was placed and no callback was called. */
export function isPutToTest({ entrySignals }: LookAheadCertificate): boolean {
  return entrySignals > 0;
}

/**
 * Scope of a certificate, one sentence. It says `certified` only without findings and with at least one entry signal.
 */
export function describeCertificate(certificate: LookAheadCertificate): string {
  const { findings, cuts, histories, rows, pairs, entrySignals, trades, calls } = certificate;
  const called = Object.entries(calls).filter(([, times]) => times > 0);
  const uncalled = Object.keys(calls).filter((name) => calls[name] === 0);
  const parts = [
    `${count(cuts, 'cut')} of ${count(rows, 'candle')} of ${count(pairs.length, 'pair')}`,
    `${count(histories, 'truncated history', 'truncated histories')} of the columns`,
    `${count(entrySignals, 'entry signal')} and ${count(trades, 'trade')}`,
    called.length > 0
      ? `guarded columns in ${called.map(([name, times]) => `${times} calls of ${name}`).join(', ')}`
      : 'no callback',
  ];
  const never = uncalled.length > 0 ? `; never called: ${uncalled.join(', ')}` : '';
  const state = isPutToTest(certificate) ? 'certified: ' : 'not_checked: ';
  return `${findings.length === 0 ? state : ''}${parts.join(', ')}${never}`;
}

function count(value: number, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`;
}
