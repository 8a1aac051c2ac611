import OPERATIONS_BY_ID from 'virtual:operations';
import { type MouseEvent, type ReactNode, useLayoutEffect, useRef } from 'react';
import type { OperationId } from '../api/client.ts';
import { useMe } from './me.ts';

/**
 * Reason why the caller may not use the operation, or a field of its body; undefined if they may, or while their roles are not
 * known.
 */
export function useDenial(operation: OperationId, field?: string): string | undefined {
  const me = useMe();
  const [, , , access, fieldRoles] = OPERATIONS_BY_ID[operation];
  const needed = field === undefined ? access : fieldRoles?.[field];
  if (!me || needed === undefined || needed === 'public') return undefined;
  return (me.roles as readonly string[]).includes(needed) ? undefined : `Needs the role ${needed}`;
}

/**
 * A button of an operation. For a caller without its role it is disabled and says which role is needed. When it goes because of what
 * it did, the focus that it had is on the page: the way on by keyboard does not begin at the top of the window.
 */
export function ActButton(props: {
  readonly operation: OperationId;
  /** `submit`: the button of a form. */
  readonly type?: 'button' | 'submit';
  /** `icon`: `children` is an icon alone, and `label` its name. */
  readonly kind?: 'primary' | 'danger' | 'small' | 'small danger' | 'icon';
  readonly label?: string;
  /** For a button that is on or off. */
  readonly isPressed?: boolean;
  readonly isBusy?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
  readonly children: ReactNode;
}) {
  const { type = 'button', kind = '', isBusy = false, label } = props;
  const denial = useDenial(props.operation);
  // Not `disabled`: the focus would be lost, and the reason could not be read by keyboard.
  const isOff = isBusy || denial !== undefined;
  const button = useRef<HTMLButtonElement>(null);
  // Before it leaves the document, which takes the focus away.
  useLayoutEffect(() => {
    const element = button.current;
    return () => {
      if (document.activeElement === element) {
        document.getElementById('page')?.focus({ preventScroll: true });
      }
    };
  }, []);
  return (
    <button
      ref={button}
      type={type}
      className={`btn ${kind === 'icon' ? 'small icon plain' : kind}`}
      aria-pressed={props.isPressed}
      aria-label={label && [label, denial].filter(Boolean).join(': ')}
      aria-disabled={isOff}
      aria-busy={isBusy}
      title={denial ?? label}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else props.onClick?.(event);
      }}
    >
      {props.children}
      {denial && <span className="sr">: {denial}</span>}
    </button>
  );
}
