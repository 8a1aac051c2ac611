import { CheckCircle2, CircleDashed, Loader } from 'lucide-react';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import { decimal, duration } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { Panel, Progress } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Job } from './data.ts';

const STEPS = ['Queue', 'Data and start', 'Simulation', 'Report'] as const;

/** Steps of a job that has not ended, or the reason why it has no report. */
export function JobProgress({ job }: { readonly job: Job }) {
  if (job.status === 'completed') {
    return (
      <Panel title="Report">
        <Empty title="The results of this backtest were deleted">
          The platform deletes old results after the retention time. Run it again for a new report; keep it to
          prevent that.
        </Empty>
      </Panel>
    );
  }
  if (job.status === 'failed') return <Failure job={job} />;
  if (job.status === 'cancelled') {
    return (
      <Panel title="Report">
        <Empty title="This backtest was cancelled">It has no report. Run it again for one.</Empty>
      </Panel>
    );
  }
  return <Steps job={job} />;
}

function Failure({ job }: { readonly job: Job }) {
  return (
    <Panel title="This backtest failed">
      <div className="pad stack">
        <p className="notice" data-tone="down" role="alert">
          {job.error}
        </p>
        {job.error_code && (
          <p className="muted">
            Code <code>{job.error_code}</code>
          </p>
        )}
        {job.warnings.length > 0 && (
          <ul className="report-list">
            {foldWarnings(job.warnings).map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}

function stepOf({ status, queue, progress }: Job): number {
  if (status === 'pending') return queue?.waiting_for === 'start' ? 1 : 0;
  return (progress ?? 0) >= 0.99 ? 3 : 2;
}

function detailOf({ queue, stalled, status }: Job): string {
  if (stalled) return `No progress for a minute: ${stalled}`;
  if (status === 'running') return 'The strategy runs over the candles.';
  if (!queue) return 'Submitted.';
  if (queue.waiting_for === 'slot') {
    return `Waits for a free slot. Place in the queue: ${queue.position ?? 'next'}.`;
  }
  if (queue.waiting_for === 'capacity') {
    return `Waits for capacity: ${queue.reason ?? 'none was free'}. The start is repeated.`;
  }
  return 'Checks the stored candles, collects missing ones and starts the task.';
}

function Steps({ job }: { readonly job: Job }) {
  const now = useNow(1_000);
  const current = stepOf(job);
  const value = job.status === 'running' && job.progress !== null ? job.progress : undefined;
  return (
    <Panel title="Progress">
      <div className="pad stack">
        <ol className="report-steps">
          {STEPS.map((step, index) => {
            const Icon = index < current ? CheckCircle2 : index === current ? Loader : CircleDashed;
            return (
              <li key={step} aria-current={index === current ? 'step' : undefined}>
                <Icon aria-hidden="true" /> {step}
              </li>
            );
          })}
        </ol>
        <Progress value={value} label="Progress of the backtest" />
        <p className="report-progress">
          <span>{value === undefined ? STEPS[current] : `${decimal(value * 100, 0)} %`}</span>
          <span className="muted">{detailOf(job)}</span>
          <span className="faint">
            {duration((now - Date.parse(job.created_at)) / 1_000)} since submission
          </span>
        </p>
      </div>
    </Panel>
  );
}
