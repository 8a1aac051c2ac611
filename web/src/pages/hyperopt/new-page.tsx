import { Link, useSearch } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { PageHead } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { draftFor, draftOf } from './draft.ts';
import { NewForm } from './new-form.tsx';
import './hyperopt.css';

/** Start of a hyperopt job: blank, for a strategy, or filled from another job. */
export function NewHyperoptPage() {
  const { from, strategy } = useSearch({ from: '/hyperopt/new' });
  const strategies = useCall('listStrategies', {});
  const job = useCall('getHyperopt', { params: { job_id: from ?? '' } }, { enabled: from !== undefined });
  return (
    <>
      <PageHead title={from ? 'Search again with changes' : 'New search'}>
        {from && (
          <p className="muted">
            Filled from{' '}
            <Link to="/hyperopt/$id" params={{ id: from }}>
              {from}
            </Link>
          </p>
        )}
      </PageHead>
      <Loaded query={strategies} skeleton={<Skeleton rows={18} />}>
        {({ items }) => {
          if (items.length === 0) {
            return <Empty title="No strategy">Add a strategy file to the strategy folder.</Empty>;
          }
          if (!from) {
            const chosen = items.find((each) => each.strategy === strategy) ?? items[0];
            return <NewForm key="blank" strategies={items} initial={draftFor(chosen)} />;
          }
          return (
            <Loaded query={job} skeleton={<Skeleton rows={18} />}>
              {(before) => <NewForm key={from} strategies={items} initial={draftOf(before)} isCopy />}
            </Loaded>
          );
        }}
      </Loaded>
    </>
  );
}
