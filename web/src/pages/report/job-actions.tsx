import { Ban } from 'lucide-react';
import { useAction, useCall } from '../../api/queries.ts';
import { CopyButton } from '../../ui/parts.tsx';
import type { Job } from './data.ts';

/** Buttons of the page's head. */
export function JobActions({ job }: { readonly job: Job }) {
  const isUnfinished = job.status === 'pending' || job.status === 'running';
  return (
    <>
      <CopyButton text={location.href} label="Copy link" />
      {isUnfinished && <CancelButton job={job} />}
    </>
  );
}

function CancelButton({ job }: { readonly job: Job }) {
  const me = useCall('getMe', {});
  const cancel = useAction('cancelBacktest', ['getBacktest', 'listBacktests']);
  const mayNot = me.data !== undefined && !me.data.roles.includes('researcher');
  return (
    <>
      <button
        type="button"
        className="btn small danger"
        disabled={mayNot || cancel.isPending}
        title={mayNot ? 'Needs the role researcher' : undefined}
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
