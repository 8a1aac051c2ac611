import { Link } from '@tanstack/react-router';
import { LogOut, UserRound } from 'lucide-react';
import { useId } from 'react';
import { ApiError } from '../api/client.ts';
import { useCall } from '../api/queries.ts';
import { signOut } from '../auth/session.ts';

/** The caller with its highest role, and the way out. */
export function UserMenu() {
  const id = useId();
  const { data: me, error } = useCall('getMe', {});
  if (!me) {
    // Not while the response is under way, nor when there is none.
    if (!(error instanceof ApiError && error.status === 401)) return null;
    return (
      <Link to="/sign-in" className="btn plain">
        <UserRound aria-hidden="true" /> Sign in
      </Link>
    );
  }
  return (
    <>
      <button type="button" className="btn plain user" popoverTarget={id}>
        <UserRound aria-hidden="true" /> <span className="user-name">{me.subject}</span>
      </button>
      <div id={id} popover="auto" className="pop stack">
        <p>
          <strong>{me.subject}</strong>
        </p>
        <p className="muted">
          {me.roles.length > 0 ? `Role: ${me.roles.at(-1)}` : 'No role: ask an admin for one'}
          {me.groups.length > 0 && `. Groups: ${me.groups.join(', ')}`}
        </p>
        {me.enforced ? (
          <div>
            <button type="button" className="btn" onClick={() => void signOut()}>
              <LogOut aria-hidden="true" /> Sign out
            </button>
          </div>
        ) : (
          <p className="muted">This platform needs no sign-in: whoever reaches it may do everything.</p>
        )}
      </div>
    </>
  );
}
