import { lazy, Suspense } from 'react';
import { useCall } from '../../api/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Progress } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';

const RegisterDialog = lazy(() =>
  import('./register-dialog.tsx').then(({ RegisterDialog: made }) => ({ default: made })),
);

const isMoving = (status: string) => status === 'pending' || status === 'running';

/** Registers a backtest that is known by its id alone, as soon as it is completed. */
export function RegisterBacktest({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
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
    <Dialog title="Register the backtest" onClose={onClose}>
      <div className="stack pad">
        <Loaded query={query} skeleton={<Skeleton rows={2} />}>
          {({ status, progress, error }) =>
            isMoving(status) ? (
              <>
                <p role="status">The backtest is under way. This may be closed: the backtest goes on.</p>
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
