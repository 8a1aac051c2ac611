import LIMITS from 'virtual:limits';
import { Link, useSearch } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { StartPage } from '../../forms/start-job.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { draftFor, draftOf } from './draft.ts';
import { NewForm } from './new-form.tsx';

/** Submission of a backtest: blank, for a strategy, or filled from another backtest. */
export function NewBacktestPage() {
  const { from, strategy } = useSearch({ from: '/backtests/new' });
  const job = useCall('getBacktest', { params: { job_id: from ?? '' } }, { enabled: from !== undefined });
  // In no list, because it cannot run without a file.
  const signals = useCall(
    'getStrategy',
    { params: { name: LIMITS.signals.strategy } },
    { isImmutable: true },
  );
  return (
    <StartPage
      title={from ? 'Run again with changes' : 'New backtest'}
      from={
        from && (
          <Link to="/backtests/$id" params={{ id: from }}>
            {from}
          </Link>
        )
      }
      job={job}
    >
      {(listed, before) => (
        <Loaded query={signals} skeleton={<Skeleton rows={24} className="panel" />}>
          {(given) => {
            const strategies = [...listed, given];
            const source = from ?? `for ${strategy ?? 'any'}`;
            const chosen = strategies.find((each) => each.strategy === strategy) ?? strategies[0];
            return (
              <NewForm
                key={source}
                {...{ strategies, source }}
                initial={before ? draftOf(before) : draftFor(chosen)}
                isCopy={before !== undefined}
              />
            );
          }}
        </Loaded>
      )}
    </StartPage>
  );
}
