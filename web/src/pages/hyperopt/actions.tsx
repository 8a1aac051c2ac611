import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { OperationId, RequestOf } from '../../api/client.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { ConfirmDialog, Rejection } from '../../ui/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { isMoving, type Job } from './live.ts';
import { bestRequest, RegisterBest } from './register-best.tsx';

/** What can be done with a job in its state. */
export function JobActions({ job }: { readonly job: Job }) {
  const { status } = job;
  return (
    <>
      {isMoving(job) && <Cancel job={job} />}
      {(status === 'cancelled' || status === 'failed') && <Resume job={job} />}
      {status === 'completed' && <BacktestBest job={job} />}
      {status === 'completed' && job.look_ahead?.state !== 'found' && <RegisterBest job={job} />}
      <Link to="/hyperopt/new" search={{ from: job.job_id }} className="btn">
        Search again with changes
      </Link>
    </>
  );
}

function Cancel({ job }: { readonly job: Job }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActButton operation="cancelHyperopt" kind="danger" onClick={() => setOpen(true)}>
        Cancel
      </ActButton>
      {isOpen && (
        <ConfirmDialog
          title="Cancel this search?"
          operation="cancelHyperopt"
          request={{ params: { job_id: job.job_id } }}
          invalidates={['getHyperopt', 'listHyperopts']}
          confirm="Cancel the search"
          keep="Let it run"
          onClose={() => setOpen(false)}
        >
          <p>
            {job.current_trial} of {job.total_trials} trials have finished and stay. The others do not run. A
            cancelled search can be resumed.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** A button that starts a job and leads to it. Another try after a lost response starts no second one. */
function StartButton<I extends 'resumeHyperopt' | 'submitBacktest'>(props: {
  readonly operation: I;
  readonly request: RequestOf<I>;
  readonly invalidates: readonly OperationId[];
  /** Says in a dialog what was rejected. */
  readonly rejected: string;
  readonly onStarted: (id: string) => void;
  readonly children: ReactNode;
}) {
  const { operation, invalidates, rejected, onStarted, children } = props;
  const [request] = useState(props.request);
  const start = useAction(operation, invalidates);
  return (
    <>
      <ActButton
        operation={operation}
        kind="primary"
        isBusy={start.isPending}
        onClick={() => start.mutate(request, { onSuccess: ({ job_id }) => onStarted(job_id) })}
      >
        {children}
      </ActButton>
      {start.error && (
        <Dialog title={rejected} onClose={() => start.reset()}>
          <div className="pad">
            <Rejection error={start.error} />
          </div>
        </Dialog>
      )}
    </>
  );
}

function Resume({ job }: { readonly job: Job }) {
  const navigate = useNavigate();
  return (
    <StartButton
      operation="resumeHyperopt"
      request={{ params: { job_id: job.job_id } }}
      invalidates={['listHyperopts']}
      rejected="The search was not resumed"
      onStarted={(id) => void navigate({ to: '/hyperopt/$id', params: { id } })}
    >
      Resume as a new job
    </StartButton>
  );
}

function BacktestBest({ job }: { readonly job: Job }) {
  const navigate = useNavigate();
  return (
    <StartButton
      operation="submitBacktest"
      request={bestRequest(job)}
      invalidates={['listBacktests']}
      rejected="The backtest was not started"
      onStarted={(id) => void navigate({ to: '/backtests/$id', params: { id } })}
    >
      Backtest the best
    </StartButton>
  );
}
