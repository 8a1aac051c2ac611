import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type LookAhead, MAX_LOOK_AHEAD_FINDINGS, notChecked } from '#contract/config/look-ahead.ts';
import { SIGNALS_NOT_CHECKED } from '#contract/values/signals-limits.ts';
import type { BacktestOutcome } from '#engine/backtest.ts';
import type { LookAheadCertificate } from '#engine/look-ahead/certify.ts';
import type { LookAheadFinding } from '#engine/look-ahead/findings.ts';
import { LOOK_AHEAD_SHARE, type LookAheadSample, sampleLookAhead } from '#engine/look-ahead/sample.ts';
import type { PairData } from '#engine/run/history.ts';
import type { UniversePlan } from '#engine/universe/plan.ts';
import type { StrategyWithDigest } from '../ports.ts';

export interface SampleDeps {
  /** Processor time of this process so far, ms. */
  readonly processorMs: () => number;
  readonly pause: () => Promise<void>;
}

/**
 * Searches a finished backtest for look-ahead bias. The number of further cuts depends on the machine, so the state belongs to the job
 * and not to the result, whose bytes are a function of its input.
 */
export async function sampleBacktest(
  { processorMs, pause }: SampleDeps,
  { load, replaced }: Pick<StrategyWithDigest, 'load' | 'replaced'>,
  run: {
    readonly config: ResolvedBacktestConfig;
    readonly pairs: readonly PairData[];
    readonly plan?: UniversePlan | undefined;
    readonly outcome: Pick<BacktestOutcome, 'observed'>;
  },
): Promise<LookAhead> {
  const { config, pairs, plan } = run;
  const { observed } = run.outcome;
  if (!observed) return notChecked(SIGNALS_NOT_CHECKED);
  if (observed.near.length === 0) return notChecked(NO_SIGNAL);
  const subject = { load, replaced, config, pairs, plan };
  const sample = await sampleLookAhead(subject, observed, { spent: processorMs, pause });
  const { truncated, poisoned, rows, findings } = sample;
  const state = findings.length === 0 ? 'sampled' : 'found';
  return {
    state,
    message: `${state}: ${covered(sample)}${dearly(sample, config)} ${verdict(findings)}`,
    cuts: truncated + poisoned,
    poisoned_cuts: poisoned,
    rows,
    pairs: [...sample.pairs],
    findings: sentences(findings),
  };
}

const NO_SIGNAL = 'not_checked: the strategy has no entry or exit signal in these candles';

function covered({ truncated, poisoned, rows, pairs }: LookAheadSample): string {
  const histories = `${count(truncated, 'history', 'histories')} that end earlier`;
  return `${histories} and ${poisoned} with changed later candles, in ${count(rows, 'candle')} of ${pairs.join(', ')}.`;
}

/** Models are trained, or their features computed, in every cut: they may take more than the budget. */
function dearly({ share }: LookAheadSample, { ml_engine }: ResolvedBacktestConfig): string {
  if (!ml_engine || share <= LOOK_AHEAD_SHARE) return '';
  return ` With models this took ${Math.round(share * 100)} % of the processor time.`;
}

function verdict(findings: readonly LookAheadFinding[]): string {
  if (findings.length === 0) return 'Everything was the same as with all candles.';
  return findings.some(({ kind }) => kind === 'look_ahead')
    ? 'Look-ahead bias was found.'
    : 'Look-ahead bias cannot be ruled out.';
}

/** Look-ahead warnings of a job; empty without findings. */
export function lookAheadWarnings({ findings }: LookAhead): string[] {
  const [first] = findings;
  if (first === undefined) return [];
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more, see look_ahead)` : '';
  const bias = findings.some((finding) => finding.startsWith('look_ahead: '))
    ? 'LOOK-AHEAD BIAS: the strategy uses candles that are not known yet, so this result cannot be earned.'
    : 'LOOK-AHEAD BIAS CANNOT BE RULED OUT.';
  return [`${bias} ${first}${more}`];
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
    'each with unknown and with changed later candles',
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
