import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { dropToken, expiryOf, keepToken } from '../../auth/pasted-token.ts';
import { signInProvider } from '../../auth/session.ts';
import { CopyButton, PageHead, Panel } from '../../ui/parts.tsx';
import { safePath } from './safe-path.ts';

/** Sign-in at the identity provider, or with a token of the command line. */
export function SignInPage() {
  return (
    <>
      <PageHead title="Sign in" />
      {signInProvider() ? <ProviderSignIn /> : <TokenSignIn />}
    </>
  );
}

/** Where to go after the sign-in, with everything loaded again as the signed-in user. */
function useLeave() {
  const navigate = useNavigate();
  const client = useQueryClient();
  return async (to: string | undefined) => {
    await navigate({ href: safePath(to), replace: true });
    await client.resetQueries();
  };
}

function ProviderSignIn() {
  const search = useSearch({ from: '/sign-in' });
  const leave = useLeave();
  const [failure, setFailure] = useState<string>();
  // A code is valid once; effects run twice while developing.
  const isBegun = useRef(false);
  const isReturning = search.code !== undefined || search.error !== undefined;
  useEffect(() => {
    if (!isReturning || isBegun.current) return;
    isBegun.current = true;
    signInProvider()!
      .complete(new URLSearchParams(location.search))
      .then(leave, (error: Error) => setFailure(error.message));
  });
  if (isReturning && failure === undefined) return <p role="status">Signing in…</p>;
  return (
    <Panel title="Sign in at your identity provider">
      <div className="pad stack">
        {failure !== undefined && (
          <p className="notice" data-tone="down" role="alert">
            The sign-in failed: {failure}
          </p>
        )}
        <p className="muted">
          The pages of your identity provider ask for your name and password, and bring you back here.
        </p>
        <div>
          <button
            type="button"
            className="btn primary sign-in-button"
            onClick={() => void signInProvider()!.begin(safePath(search.to))}
          >
            <KeyRound aria-hidden="true" /> Sign in
          </button>
        </div>
      </div>
    </Panel>
  );
}

const COMMAND = 'npx --no-install touchstone open --role viewer';

/** Signs in with a pasted token. Long because it is the markup of the form and of its explanation. */
function TokenSignIn() {
  const { to } = useSearch({ from: '/sign-in' });
  const leave = useLeave();
  const id = useId();
  const [token, setToken] = useState('');
  const [failure, setFailure] = useState<string>();
  const submit = async () => {
    const problem = problemOf(token.trim());
    if (problem) return setFailure(problem);
    keepToken(token.trim());
    try {
      await call('getMe', {});
    } catch (error) {
      dropToken();
      return setFailure(`The platform does not accept this token: ${(error as Error).message}`);
    }
    await leave(to);
  };
  return (
    <Panel title="Sign in with a token">
      <div className="pad stack">
        <p className="muted">
          This platform needs a token. Run this command where the platform runs, with the role that you need,
          and open the address that it prints:
        </p>
        <p className="sign-in-command">
          <code>{COMMAND}</code> <CopyButton text={COMMAND} />
        </p>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <div className="field">
            <label htmlFor={id}>Or paste a token</label>
            <textarea
              id={id}
              rows={4}
              value={token}
              spellCheck={false}
              autoComplete="off"
              aria-invalid={failure !== undefined}
              aria-describedby={failure === undefined ? undefined : `${id}-error`}
              onChange={(event) => setToken(event.target.value)}
            />
            {failure !== undefined && (
              <p id={`${id}-error`} className="field-error" role="alert">
                {failure}
              </p>
            )}
          </div>
          <div>
            <button type="submit" className="btn primary sign-in-button">
              <KeyRound aria-hidden="true" /> Sign in
            </button>
          </div>
        </form>
      </div>
    </Panel>
  );
}

function problemOf(token: string): string | undefined {
  if (token === '') return 'Paste the token that the command prints.';
  const endsAt = expiryOf(token);
  if (endsAt === undefined) return 'This is not a token: it has three parts with dots between them.';
  return endsAt <= Date.now() ? 'This token has ended. Make another one with the command.' : undefined;
}
