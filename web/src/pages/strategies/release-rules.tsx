import { formatCount } from '#contract/values/format-count.ts';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';

type Rules = ResponseOf<'getReleaseRules'>;

/** What the platform requires of every release; it is changed where the platform is deployed. */
export function ReleaseRules() {
  const query = useCall('getReleaseRules', {}, { isImmutable: true });
  return (
    <Loaded query={query} skeleton={<Skeleton rows={1} />}>
      {(rules) => {
        const sentences = sentencesOf(rules);
        return (
          <details className="pad release-rules">
            <summary>
              Release policy:{' '}
              {sentences.length === 0 ? 'nothing is required' : formatCount(sentences.length, 'requirement')}
            </summary>
            <ul>
              {sentences.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
            <p className="muted">It is set where the platform is deployed.</p>
          </details>
        );
      }}
    </Loaded>
  );
}

/** A sentence for each rule that is set. */
function sentencesOf({ release_policy: policy, ...rules }: Rules): readonly string[] {
  const bounds: readonly (readonly [value: number | null, text: (value: number) => string])[] = [
    [policy.min_trades, (trades) => `At least ${trades} trades in the backtest`],
    [policy.min_days, (days) => `At least ${days} days of candles`],
    [policy.max_evidence_age_days, (days) => `Candles that ended at most ${days} days ago`],
    [policy.min_sharpe, (ratio) => `A Sharpe ratio of at least ${ratio}`],
    [policy.min_profit_factor, (factor) => `A profit factor of at least ${factor}`],
    [policy.max_drawdown, (percent) => `A drawdown of at most ${percent} %`],
    [policy.min_deflated_sharpe, (ratio) => `A deflated Sharpe ratio of at least ${ratio}`],
  ];
  return [
    ...bounds.flatMap(([value, text]) => (value === null ? [] : [text(value)])),
    ...(policy.look_ahead_certificate ? ['Certified free of look-ahead bias'] : []),
    ...(rules.four_eyes ? ['Promoted or approved by another user than the one who registered it'] : []),
    ...(rules.validation_required ? ['Validation passed before the promotion'] : []),
    ...(rules.rollback_reason_required ? ['A rollback has a reason'] : []),
  ];
}
