import { Link } from '@tanstack/react-router';
import { STATUSES } from '../../api/jobs.ts';
import { decimal, NO_VALUE } from '../../ui/format.ts';
import type { Overview } from './data.ts';
import { OverviewPanel, type OverviewProps } from './overview-panel.tsx';

const KINDS = [
  { key: 'backtests', name: 'Backtests', to: '/backtests' },
  { key: 'hyperopt', name: 'Hyperopt', to: '/hyperopt' },
  { key: 'collections', name: 'Collections', to: '/data' },
] as const;

/** Number of jobs of each kind and status; each leads to their list. */
export function CountsPanel({ query }: OverviewProps) {
  return (
    <OverviewPanel query={query} title="All jobs" rows={5} parts={['backtests', 'hyperopt', 'collections']}>
      {({ counts }) => (
        <table className="grid home-counts">
          <thead>
            <tr>
              <th scope="col">Status</th>
              {KINDS.map(({ key, name }) => (
                <th key={key} scope="col" className="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {STATUSES.map((status) => (
              <tr key={status}>
                <th scope="row">{status}</th>
                {KINDS.map(({ key, to, name }) => (
                  <td key={key} className="num">
                    <Link to={to} search={{ status }}>
                      <span className="sr">
                        {name}, {status}:{' '}
                      </span>
                      {countText(counts[key]?.[status])}
                    </Link>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </OverviewPanel>
  );
}

type Counted = NonNullable<Overview['counts']['backtests']>['pending'];

function countText(counted: Counted | undefined): string {
  if (!counted) return NO_VALUE;
  return `${decimal(counted.value, 0)}${counted.relation === 'at_least' ? '+' : ''}`;
}
