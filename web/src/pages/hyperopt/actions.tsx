import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { isMoving, type Job } from './live.ts';
import { RegisterBest } from './register-best.tsx';

/** What can be done with a job in its state. */
export function JobActions({ job }: { readonly job: Job }) {
  const { status } = job;
  return (
    <>
      {isMoving(job) && <Cancel job={job} />}
      {(status === 'cancelled' || status === 'failed') && <Resume job={job} />}
      {status === 'completed' && <BacktestBest job={job} />}
      {status === 'completed' && <RegisterBest job={job} />}
      <Link to="/hyperopt/new" search={{ from: job.job_id }} className="btn">
        Search again with changes
      </Link>
    </>
  );
}

function Cancel({ job }: { readonly job: Job }) {
  const [isOpen, setOpen] = useState(false);
  const cancel = useAction('cancelHyperopt', ['getHyperopt', 'listHyperopts']);
  const close = () => {
    setOpen(false);
    cancel.reset();
  };
  return (
    <>
      <ActButton operation="cancelHyperopt" kind="danger" onClick={() => setOpen(true)}>
        Cancel
      </ActButton>
      {isOpen && (
        <Dialog title="Cancel the search" onClose={close}>
          <div className="stack pad">
            <p>
              {job.current_trial} of {job.total_trials} trials have finished and stay. The others do not run.
              A cancelled search can be resumed.
            </p>
            {cancel.error && <ErrorState error={cancel.error} />}
          </div>
          <footer className="dialog-foot">
            <button type="button" className="btn" onClick={close}>
              Keep it running
            </button>
            <ActButton
              operation="cancelHyperopt"
              kind="danger"
              isBusy={cancel.isPending}
              onClick={() => cancel.mutate({ params: { job_id: job.job_id } }, { onSuccess: close })}
            >
              Cancel the search
            </ActButton>
          </footer>
        </Dialog>
      )}
    </>
  );
}

function Resume({ job }: { readonly job: Job }) {
  const navigate = useNavigate();
  const resume = useAction('resumeHyperopt', ['listHyperopts']);
  return (
    <>
      <ActButton
        operation="resumeHyperopt"
        kind="primary"
        isBusy={resume.isPending}
        onClick={() =>
          resume.mutate(
            { params: { job_id: job.job_id } },
            { onSuccess: ({ job_id }) => void navigate({ to: '/hyperopt/$id', params: { id: job_id } }) },
          )
        }
      >
        Resume as a new job
      </ActButton>
      {resume.error && (
        <Dialog title="The search was not resumed" onClose={() => resume.reset()}>
          <ErrorState error={resume.error} />
        </Dialog>
      )}
    </>
  );
}

function BacktestBest({ job }: { readonly job: Job }) {
  const navigate = useNavigate();
  const submit = useAction('submitBacktest', ['listBacktests']);
  const body = { config: { strategy: job.strategy }, hyperopt_job_id: job.job_id };
  return (
    <>
      <ActButton
        operation="submitBacktest"
        kind="primary"
        isBusy={submit.isPending}
        onClick={() =>
          submit.mutate(
            { body },
            { onSuccess: ({ job_id }) => void navigate({ to: '/backtests/$id', params: { id: job_id } }) },
          )
        }
      >
        Backtest the best
      </ActButton>
      {submit.error && (
        <Dialog title="The backtest was not started" onClose={() => submit.reset()}>
          <ErrorState error={submit.error} />
        </Dialog>
      )}
    </>
  );
}
