import { type ReactNode, useId } from 'react';
import { type Role, useMissingRole } from '../auth/me.ts';

/**
 * A button of an operation. Without the needed role it stays in its place and says which one is missing.
 *
 * @param disabled reason why it cannot be used now
 */
export function ActionButton(props: {
  readonly needs: Role;
  readonly onClick: () => void;
  readonly disabled?: string | false | undefined;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const id = useId();
  const missing = useMissingRole(props.needs);
  const reason = missing ?? (props.disabled || undefined);
  return (
    <>
      <button
        type="button"
        className={`btn ${props.className ?? ''}`}
        // Not `disabled`: the button keeps the focus, and its reason can be read.
        aria-disabled={reason !== undefined}
        aria-describedby={reason ? id : undefined}
        title={reason}
        onClick={() => reason === undefined && props.onClick()}
      >
        {props.children}
      </button>
      {reason && (
        <span id={id} className="sr">
          {reason}
        </span>
      )}
    </>
  );
}
