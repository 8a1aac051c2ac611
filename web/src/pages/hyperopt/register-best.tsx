import { lazy, Suspense, useState } from 'react';
import { useAction, useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Progress } from '../../ui/parts.tsx';
import { ErrorState, Loaded, Skeleton } from '../../ui/states.tsx';
import type { Job } from './live.ts';

const RegisterDialog = lazy(() =>
  import('../report/register-dialog.tsx').then(({ RegisterDialog: made }) => ({ default: made })),
);

/** Registers the best parameters. A version is registered from a backtest, so they are backtested first. */
export function RegisterBest({ job }: { readonly job: Job }) {
  const [isOpen, setOpen] = useState(false);
  const [backtest, setBacktest] = useState<string>();
  return (
    <>
      <ActButton operation="registerStrategy" onClick={() => setOpen(true)}>
        Register the best
      </ActButton>
      {isOpen &&
        (backtest === undefined ? (
          <Start job={job} onStarted={setBacktest} onClose={() => setOpen(false)} />
        ) : (
          <Register id={backtest} onClose={() => setOpen(false)} />
        ))}
    </>
  );
}

function Start(props: {
  readonly job: Job;
  readonly onStarted: (backtest: string) => void;
  readonly onClose: () => void;
}) {
  const { job, onStarted, onClose } = props;
  const submit = useAction('submitBacktest', ['listBacktests']);
  const body = { config: { strategy: job.strategy }, hyperopt_job_id: job.job_id };
  return (
    <Dialog title="Register the best" onClose={onClose}>
      <div className="stack pad">
        <p>
          A version of <b>{job.strategy}</b> is registered from a backtest. First the best parameters, those
          of trial {job.best_trial}, are backtested over the days of the search. Then you set the thresholds
          and register.
        </p>
        <p className="muted">The version keeps the number of trials: comparisons name it.</p>
        {submit.error && <ErrorState error={submit.error} />}
      </div>
      <footer className="dialog-foot">
        <button type="button" className="btn" onClick={onClose}>
          Not now
        </button>
        <ActButton
          operation="submitBacktest"
          kind="primary"
          isBusy={submit.isPending}
          onClick={() => submit.mutate({ body }, { onSuccess: ({ job_id }) => onStarted(job_id) })}
        >
          Backtest the best
        </ActButton>
      </footer>
    </Dialog>
  );
}

const isMoving = (status: string) => status === 'pending' || status === 'running';

function Register({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const query = useCall(
    'getBacktest',
    { params: { job_id: id } },
    { isMoving: ({ status }) => isMoving(status) },
  );
  const { data } = query;
  if (data?.status === 'completed') {
    return (
      <Suspense fallback={null}>
        <RegisterDialog job={data} onClose={onClose} />
      </Suspense>
    );
  }
  return (
    <Dialog title="Register the best" onClose={onClose}>
      <div className="stack pad">
        <Loaded query={query} skeleton={<Skeleton rows={2} />}>
          {({ status, progress, error }) =>
            isMoving(status) ? (
              <>
                <p role="status">
                  The best parameters are backtested. This may be closed: the backtest goes on.
                </p>
                <Progress value={progress ?? undefined} label="Progress of the backtest" />
              </>
            ) : (
              <p className="notice" data-tone="down" role="alert">
                The backtest is {status}. {error}
              </p>
            )
          }
        </Loaded>
      </div>
    </Dialog>
  );
}
