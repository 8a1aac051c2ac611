import LIMITS from 'virtual:limits';
import { Link, useSearch } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { StartPage } from '../../forms/start-job.tsx';
import { draftFor, draftOf } from './draft.ts';
import { NewForm } from './new-form.tsx';

/** Submission of a backtest: blank, for a strategy, or filled from another backtest. */
export function NewBacktestPage() {
  const { from, strategy } = useSearch({ from: '/backtests/new' });
  const job = useCall('getBacktest', { params: { job_id: from ?? '' } }, { enabled: from !== undefined });
  // In no list, because it cannot run without a file.
  const unlisted = useCall(
    'getStrategy',
    { params: { name: LIMITS.signals.strategy } },
    { isImmutable: true },
  );
  return (
    <StartPage
      title={from ? 'Run again with changes' : 'New backtest'}
      link={
        from && (
          <Link to="/backtests/$id" params={{ id: from }}>
            {from}
          </Link>
        )
      }
      {...{ from, job, strategy, unlisted, draftFor, draftOf }}
    >
      {(start) => <NewForm key={start.source} {...start} />}
    </StartPage>
  );
}
