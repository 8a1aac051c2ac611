import { TrendingDown, TrendingUp, TriangleAlert } from 'lucide-react';
import { lowestDeflation, trialsOfScope } from '#contract/values/deflated-ratio.ts';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import { withUnit } from '../../ui/format.ts';
import type { Job, ReportData } from './data.ts';

const EFFECTS = {
  optimistic: { Icon: TrendingUp, text: 'flatters the result' },
  pessimistic: { Icon: TrendingDown, text: 'makes the result worse' },
  neutral: { Icon: TriangleAlert, text: 'direction unknown' },
} as const;

/** Warnings of the run and known biases of its result. */
export function NoticesPanel({ report, job }: { readonly report: ReportData; readonly job: Job }) {
  const warnings = foldWarnings([...job.warnings, ...report.warnings, ...lookAheadOf(report)]);
  if (job.found_by) {
    warnings.push(
      `The run was made from the best of ${job.found_by.trials} trials: choosing the best inflates the result.`,
    );
  }
  // Absent in the report as one file: the same inputs give the same bytes.
  if (job.trials && job.trials.owner > 1) warnings.push(trialsText(job.trials));
  const biases = report.biases;
  if (warnings.length === 0 && biases.length === 0) return null;
  return (
    <section className="stack report-notices" aria-label="Warnings and biases">
      {warnings.map((warning) => (
        <p key={warning} className="notice" data-tone="warn">
          <TriangleAlert aria-hidden="true" /> <span>{warning}</span>
        </p>
      ))}
      {biases.length > 0 && (
        <details className="notice report-biases">
          <summary>
            {biases.length} known {biases.length === 1 ? 'bias' : 'biases'} of this result
            <span className="faint"> {effectsOf(biases)}</span>
          </summary>
          <ul className="report-list">
            {biases.map(({ effect, text }) => {
              const { Icon, text: meaning } = EFFECTS[effect];
              return (
                <li key={text}>
                  <Icon aria-hidden="true" />
                  <span>
                    {text} <span className="faint">({meaning})</span>
                  </span>
                </li>
              );
            })}
          </ul>
        </details>
      )}
    </section>
  );
}

function trialsText(trials: NonNullable<Job['trials']>): string {
  const lowest = lowestDeflation(trials);
  const { deflated_sharpe_ratio: ratio, reason } = lowest;
  const deflation =
    ratio === null
      ? `is undefined: ${reason}`
      : `by the ${trialsOfScope(lowest)} is ${withUnit(ratio, 'probability')}: the probability that it is better than the best of as many trials without skill`;
  return `Trial ${trials.owner} of the owner on overlapping assets and dates, ${trials.strategy} of them of this strategy. The deflated Sharpe ratio ${deflation}.`;
}

function lookAheadOf({ look_ahead }: ReportData): readonly string[] {
  if (look_ahead.findings.length > 0) return look_ahead.findings;
  const { state, message } = look_ahead;
  if (state !== 'not_checked') return [];
  return [
    message.startsWith(state) ? `Not checked for look-ahead bias${message.slice(state.length)}` : message,
  ];
}

function effectsOf(biases: ReportData['biases']): string {
  const count = (effect: string) => biases.filter((bias) => bias.effect === effect).length;
  const parts = (['optimistic', 'pessimistic', 'neutral'] as const)
    .map((effect) => [count(effect), effect] as const)
    .filter(([number]) => number > 0);
  return parts.map(([number, effect]) => `${number} ${effect}`).join(', ');
}
