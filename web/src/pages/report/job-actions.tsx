import { Link, useLocation } from '@tanstack/react-router';
import { BadgeCheck, Ban, RotateCcw, Share2 } from 'lucide-react';
import { lazy, Suspense, useCallback, useState } from 'react';
import { useAction, useCall } from '../../api/queries.ts';
import { CopyButton } from '../../ui/parts.tsx';
import type { Job } from './data.ts';

// Dialogs are opened rarely: their forms load then.
const SharingDialog = lazy(() =>
  import('./sharing-dialog.tsx').then((module) => ({ default: module.SharingDialog })),
);
const RegisterDialog = lazy(() =>
  import('./register-dialog.tsx').then((module) => ({ default: module.RegisterDialog })),
);

/** Buttons of the page's head. What the caller's role may not do is disabled, and says which role is needed. */
export function JobActions({ job }: { readonly job: Job }) {
  const { href } = useLocation();
  const me = useCall('getMe', {});
  const [dialog, setDialog] = useState<'share' | 'register'>();
  const close = useCallback(() => setDialog(undefined), []);
  const mayNot = me.data !== undefined && !me.data.roles.includes('researcher');
  const lacking = mayNot ? 'Needs the role researcher' : undefined;
  const isUnfinished = job.status === 'pending' || job.status === 'running';
  return (
    <>
      <Link to="/backtests/new" search={{ from: job.job_id }} className="btn small">
        <RotateCcw aria-hidden="true" /> Run again
      </Link>
      <CopyButton text={new URL(href, location.origin).href} label="Copy link" />
      <button type="button" className="btn small" onClick={() => setDialog('share')}>
        <Share2 aria-hidden="true" /> Share
      </button>
      {job.status === 'completed' && (
        <button
          type="button"
          className="btn small"
          disabled={mayNot}
          title={lacking}
          onClick={() => setDialog('register')}
        >
          <BadgeCheck aria-hidden="true" /> Register
        </button>
      )}
      {isUnfinished && <CancelButton job={job} lacking={lacking} />}
      <Suspense>
        {dialog === 'share' && <SharingDialog id={job.job_id} onClose={close} />}
        {dialog === 'register' && <RegisterDialog job={job} onClose={close} />}
      </Suspense>
    </>
  );
}

function CancelButton({ job, lacking }: { readonly job: Job; readonly lacking: string | undefined }) {
  const cancel = useAction('cancelBacktest', ['getBacktest', 'listBacktests']);
  return (
    <>
      <button
        type="button"
        className="btn small danger"
        disabled={lacking !== undefined || cancel.isPending}
        title={lacking}
        onClick={() => cancel.mutate({ params: { job_id: job.job_id } })}
      >
        <Ban aria-hidden="true" /> Cancel
      </button>
      {cancel.error && (
        <span role="alert" className="down">
          {cancel.error.message}
        </span>
      )}
    </>
  );
}
