import { useCall } from '../../api/queries.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { JobHead } from './job-head.tsx';
import { JobProgress } from './job-progress.tsx';
import { Report } from './report.tsx';
import { useJobId } from './search.ts';
import './report.css';

/** A backtest: its progress while it runs, then its report. */
export function ReportPage() {
  const id = useJobId();
  const job = useCall(
    'getBacktest',
    { params: { job_id: id } },
    { isMoving: ({ status }) => status === 'pending' || status === 'running' },
  );
  return (
    <Loaded query={job} skeleton={<Skeleton rows={24} className="panel" />}>
      {(data) => (
        <>
          <JobHead job={data} />
          {data.status === 'completed' && !data.results_deleted ? (
            <Report job={data} />
          ) : (
            <JobProgress job={data} />
          )}
        </>
      )}
    </Loaded>
  );
}
