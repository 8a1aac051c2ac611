import { Link } from '@tanstack/react-router';
import { BadgeCheck, Ban, RotateCcw, Share2 } from 'lucide-react';
import { lazy, Suspense, useCallback, useState } from 'react';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import type { Job } from './data.ts';
import { ExportMenu } from './export-menu.tsx';

// Dialogs are opened rarely: their forms load then.
const SharingDialog = lazy(() =>
  import('./sharing-dialog.tsx').then((module) => ({ default: module.SharingDialog })),
);
const RegisterDialog = lazy(() =>
  import('./register-dialog.tsx').then((module) => ({ default: module.RegisterDialog })),
);

/** Buttons of the page's head. */
export function JobActions({ job }: { readonly job: Job }) {
  const [dialog, setDialog] = useState<'share' | 'register'>();
  const close = useCallback(() => setDialog(undefined), []);
  const isUnfinished = job.status === 'pending' || job.status === 'running';
  const isCompleted = job.status === 'completed';
  return (
    <>
      <Link to="/backtests/new" search={{ from: job.job_id }} className="btn small">
        <RotateCcw aria-hidden="true" /> Run again
      </Link>
      {isCompleted && !job.results_deleted && <ExportMenu id={job.job_id} />}
      <button type="button" className="btn small" onClick={() => setDialog('share')}>
        <Share2 aria-hidden="true" /> Share
      </button>
      {isCompleted && (
        <ActButton operation="registerStrategy" kind="small" onClick={() => setDialog('register')}>
          <BadgeCheck aria-hidden="true" /> Register
        </ActButton>
      )}
      {isUnfinished && <CancelButton job={job} />}
      <Suspense>
        {dialog === 'share' && <SharingDialog id={job.job_id} onClose={close} />}
        {dialog === 'register' && <RegisterDialog job={job} onClose={close} />}
      </Suspense>
    </>
  );
}

function CancelButton({ job }: { readonly job: Job }) {
  const cancel = useAction('cancelBacktest', ['getBacktest', 'listBacktests']);
  return (
    <>
      <ActButton
        operation="cancelBacktest"
        kind="danger"
        isBusy={cancel.isPending}
        onClick={() => cancel.mutate({ params: { job_id: job.job_id } })}
      >
        <Ban aria-hidden="true" /> Cancel
      </ActButton>
      {cancel.error && (
        <span role="alert" className="down">
          {cancel.error.message}
        </span>
      )}
    </>
  );
}
