import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useCall } from '../../api/queries.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { JobActions } from './job-actions.tsx';
import { JobHead } from './job-head.tsx';
import { OwnerFacts } from './owner-facts.tsx';
import { Report } from './report.tsx';
import { ReportStateContext } from './search.ts';
import { useJobId, useUrlState } from './url-state.ts';
import './report.css';

/** Never together with the report. */
const JobProgress = lazy(async () => ({ default: (await import('./job-progress.tsx')).JobProgress }));

/** A backtest: its progress while it runs, then its report. */
export function ReportPage() {
  const id = useJobId();
  const state = useUrlState();
  const job = useCall(
    'getBacktest',
    { params: { job_id: id } },
    { isMoving: ({ status }) => status === 'pending' || status === 'running' },
  );
  return (
    <Loaded query={job} skeleton={<Skeleton rows={24} className="panel" />}>
      {(data) => (
        <ReportStateContext value={state}>
          <JobHead job={data} actions={<JobActions job={data} />} facts={<OwnerFacts job={data} />} />
          {data.status === 'completed' && !data.results_deleted ? (
            <Report
              job={data}
              hyperopt={data.found_by && <HyperoptLink id={data.found_by.hyperopt_job_id} />}
            />
          ) : (
            <Suspense fallback={<Skeleton rows={24} className="panel" />}>
              <JobProgress job={data} />
            </Suspense>
          )}
        </ReportStateContext>
      )}
    </Loaded>
  );
}

function HyperoptLink({ id }: { readonly id: string }) {
  return (
    <Link to="/hyperopt/$id" params={{ id }}>
      {id}
    </Link>
  );
}
