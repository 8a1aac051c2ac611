import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError, type OperationId, type RequestOf } from '../api/client.ts';
import { useAction } from '../api/queries.ts';
import { ActButton } from '../auth/act.tsx';
import { Dialog } from './dialog.tsx';

/** Reason why the service did not do what was asked; nothing without an error. */
export function Rejection({ error }: { readonly error: Error | null }) {
  if (!error) return null;
  const api = error instanceof ApiError && error.status > 0 ? error : undefined;
  return (
    <p className="notice" data-tone="down" role="alert">
      <TriangleAlert aria-hidden="true" /> {error.message}
      {api && (
        <span className="muted">
          <code>{api.code}</code>
          {api.correlationId && (
            <>
              {' '}
              · correlation id <code>{api.correlationId}</code>
            </>
          )}
        </span>
      )}
    </p>
  );
}

/**
 * Asks before something ends that cannot be brought back.
 *
 * @param confirm text of the button that does it, which names what it does
 * @param keep text of the button that leaves everything as it is
 */
export function ConfirmDialog<I extends OperationId>(props: {
  readonly title: string;
  readonly operation: I;
  readonly request: RequestOf<I>;
  readonly invalidates: readonly OperationId[];
  readonly confirm: string;
  readonly keep: string;
  readonly onClose: () => void;
  /** Says what will be different. */
  readonly children: ReactNode;
}) {
  const { title, operation, request, invalidates, confirm, keep, onClose, children } = props;
  const action = useAction(operation, invalidates);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="pad stack">
        {children}
        <Rejection error={action.error} />
      </div>
      <footer className="dialog-foot">
        <button type="button" className="btn" onClick={onClose}>
          {keep}
        </button>
        <ActButton
          operation={operation}
          kind="danger"
          isBusy={action.isPending}
          onClick={() => action.mutate(request, { onSuccess: onClose })}
        >
          {confirm}
        </ActButton>
      </footer>
    </Dialog>
  );
}
