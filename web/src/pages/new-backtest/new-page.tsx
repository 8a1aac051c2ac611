import { Link, useSearch } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { PageHead } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { draftFor, draftOf } from './draft.ts';
import { NewForm } from './new-form.tsx';

/** Submission of a backtest: blank, for a strategy, or filled from another backtest. */
export function NewBacktestPage() {
  const { from, strategy } = useSearch({ from: '/backtests/new' });
  const strategies = useCall('listStrategies', {});
  const job = useCall('getBacktest', { params: { job_id: from ?? '' } }, { enabled: from !== undefined });
  return (
    <>
      <PageHead title={from ? 'Run again with changes' : 'New backtest'}>
        {from && (
          <p className="muted">
            Filled from{' '}
            <Link to="/backtests/$id" params={{ id: from }}>
              {from}
            </Link>
          </p>
        )}
      </PageHead>
      <Loaded query={strategies} skeleton={<Skeleton rows={24} className="panel" />}>
        {({ items }) => {
          if (items.length === 0) {
            return <Empty title="No strategy">Add a strategy file to the strategy folder.</Empty>;
          }
          if (!from) {
            const chosen = items.find((each) => each.strategy === strategy) ?? items[0];
            return <NewForm key={`for ${strategy}`} strategies={items} initial={draftFor(chosen)} />;
          }
          return (
            <Loaded query={job} skeleton={<Skeleton rows={24} className="panel" />}>
              {(before) => <NewForm key={from} strategies={items} initial={draftOf(before)} isCopy />}
            </Loaded>
          );
        }}
      </Loaded>
    </>
  );
}
