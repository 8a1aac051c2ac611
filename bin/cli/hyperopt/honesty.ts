import type { StudyHonesty } from '#contract/hyperopt.ts';
import { table, wrap } from '../format.ts';
import { figure } from './figures.ts';

type Verdict = 'good' | 'doubtful' | 'bad' | 'unknown';

interface Judged {
  readonly name: string;
  readonly value: number | null;
  readonly verdict: Verdict;
  /** What the value says, in a sentence; of null why there is none. */
  readonly words: string;
}

/** Beyond `good` it is good, beyond `bad` it is bad; which way says which of the two is greater. */
function judge(value: number | null, bounds: { readonly good: number; readonly bad: number }): Verdict {
  if (value === null) return 'unknown';
  const sign = Math.sign(bounds.good - bounds.bad);
  if (sign * (value - bounds.good) >= 0) return 'good';
  return sign * (value - bounds.bad) <= 0 ? 'bad' : 'doubtful';
}

const share = (value: number) => `${Math.round(100 * value)} %`;

/** The bounds are those of docs/reading-a-study.md. */
function judged(honesty: StudyHonesty, isTrained: boolean): Judged[] {
  const kept = isTrained ? [efficiency(honesty)] : [];
  return [deflatedSharpe(honesty), overfitting(honesty), ...kept, plateau(honesty)];
}

function deflatedSharpe({ deflated_sharpe_ratio: value, trials }: StudyHonesty): Judged {
  const best = `the best of ${trials} trials without any skill`;
  return {
    name: 'Deflated Sharpe ratio',
    value,
    verdict: judge(value, { good: 0.95, bad: 0.9 }),
    words:
      value === null
        ? 'Cannot be told: the returns do not vary, there are too few, or all trials traded the same.'
        : `It is ${share(value)} sure that the best is better than ${best} would look.`,
  };
}

function overfitting({ pbo }: StudyHonesty): Judged {
  return {
    name: 'Probability of overfitting',
    value: pbo?.probability ?? null,
    verdict: judge(pbo?.probability ?? null, { good: 0.1, bad: 0.5 }),
    words: pbo
      ? `In ${share(pbo.probability)} of ${pbo.splits} halvings of the days the best trial of one half was no better than the middle in the other; in ${share(pbo.loss_probability)} it lost money there.`
      : 'Cannot be told: it takes ten days and two complete trials.',
  };
}

function efficiency({ walk_forward_efficiency: value }: StudyHonesty): Judged {
  const tooGood = value !== null && value > 2;
  return {
    name: 'Walk-forward efficiency',
    value,
    verdict: tooGood ? 'doubtful' : judge(value, { good: 0.5, bad: 0.1 }),
    words:
      value === null
        ? 'Cannot be told: nothing was earned on the days that the models were trained on.'
        : `Out of sample it earned ${share(value)} of what its models earned on the days they were trained on${tooGood ? ': that is luck too' : ''}.`,
  };
}

function plateau({ plateau: found }: StudyHonesty): Judged {
  return {
    name: 'Plateau width',
    value: found?.width ?? null,
    verdict: judge(found?.width ?? null, { good: 0.1, bad: 0.02 }),
    words: found
      ? `Parameters may be ${share(found.width)} of their ranges away before results drop (${found.trials} trials say so).`
      : 'Cannot be told: it takes ten complete trials.',
  };
}

/**
 * How far the best of a study can be believed, in a table and a sentence.
 *
 * @param isTrained whether models were: without them every day served to choose the parameters
 */
export function honestyText(honesty: StudyHonesty, isTrained = true): string {
  const figures = judged(honesty, isTrained);
  const rows = figures.map(({ name, value, verdict, words }) => [
    name,
    figure(value),
    verdict,
    wrap(words, 56),
  ]);
  return `${table(['How far to believe it', 'Value', '', 'What it says'], rows)}\n${conclusion(figures, daysText(honesty, isTrained))}`;
}

function daysText({ days }: StudyHonesty, isTrained: boolean): string {
  return isTrained
    ? `${days} days out of sample`
    : `${days} days, all of which the parameters were chosen on`;
}

function conclusion(figures: readonly Judged[], days: string): string {
  const names = (verdict: Verdict) =>
    figures
      .filter((each) => each.verdict === verdict)
      .map(({ name }) => name[0]!.toLowerCase() + name.slice(1));
  const [bad, open] = [names('bad'), [...names('doubtful'), ...names('unknown')]];
  const after = `${days}; docs/hyperopt.md`;
  if (bad.length > 0) return `Do not trust it: ${bad.join(', ')} (${after}).`;
  if (open.length > 0) return `Not proven: ${open.join(', ')} (${after}).`;
  return `Nothing here speaks against it (${days}). Prove it on days that no trial has seen.`;
}
