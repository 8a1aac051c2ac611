import { useState } from 'react';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Rejection } from '../../ui/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { RegisterBacktest } from '../report/register-backtest.tsx';
import type { Job } from './live.ts';

/** Request of a backtest of the best parameters. */
export function bestRequest({ strategy, job_id }: Job) {
  return { body: { config: { strategy }, hyperopt_job_id: job_id } };
}

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
          <RegisterBacktest id={backtest} onClose={() => setOpen(false)} />
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
  // One object: a second try of the same request starts no second backtest.
  const [request] = useState(() => bestRequest(job));
  return (
    <Dialog title="Register the best" onClose={onClose}>
      <div className="stack pad">
        <p>
          A version of <b>{job.strategy}</b> is registered from a backtest. First the best parameters, those
          of trial {job.best_trial}, are backtested over the days of the search. Then you set the thresholds
          and register.
        </p>
        <p className="muted">The version keeps the number of trials: comparisons name it.</p>
        <Rejection error={submit.error} />
      </div>
      <footer className="dialog-foot">
        <button type="button" className="btn" onClick={onClose}>
          Not now
        </button>
        <ActButton
          operation="submitBacktest"
          kind="primary"
          isBusy={submit.isPending}
          onClick={() => submit.mutate(request, { onSuccess: ({ job_id }) => onStarted(job_id) })}
        >
          Backtest the best
        </ActButton>
      </footer>
    </Dialog>
  );
}
