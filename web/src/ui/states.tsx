import type { UseQueryResult } from '@tanstack/react-query';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { CloudOff, Inbox, Lock, TriangleAlert } from 'lucide-react';
import { createContext, type ReactNode, useContext } from 'react';
import { ApiError } from '../api/client.ts';
import { isSilence } from '../api/connection.ts';
import { age } from './format.ts';
import { useNow } from './now.ts';

/** Placeholder of the final size, so that nothing moves when the data come. `rows` of 34 px, the height of a table row. */
export function Skeleton({
  rows = 6,
  className = '',
}: {
  readonly rows?: number;
  readonly className?: string;
}) {
  return (
    <div className={`skeleton ${className}`} role="status">
      <span className="sr">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike and never move
        <span key={index} className="skeleton-row" aria-hidden="true" />
      ))}
    </div>
  );
}

/** Nothing to show: says why, and `children` what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="state">
      <Inbox aria-hidden="true" />
      <p className="state-title">{title}</p>
      {children && <div className="muted">{children}</div>}
    </div>
  );
}

/** True below a banner that says when the platform does not answer: the parts of the page then say no more than what they lack. */
export const BanneredContext = createContext(false);

/** Message, code, correlation id and another try; for 403 the role or access that is missing. */
export function ErrorState({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const isBannered = useContext(BanneredContext);
  if (isBannered && isSilence(error)) {
    return (
      <div className="state faint">
        <CloudOff aria-hidden="true" />
        <p>Not loaded yet</p>
      </div>
    );
  }
  const api = error instanceof ApiError ? error : undefined;
  const isForbidden = api?.status === 403;
  const Icon = isForbidden ? Lock : api?.status === 0 ? CloudOff : TriangleAlert;
  return (
    <div className="state" role="alert">
      <Icon aria-hidden="true" />
      <p className="state-title">{isForbidden ? 'You may not see this' : 'This could not be loaded'}</p>
      <p className="muted">{error.message}</p>
      {api && api.status > 0 && (
        <p className="faint">
          <code>{api.code}</code>
          {api.correlationId && (
            <>
              {' '}
              · correlation id <code>{api.correlationId}</code>
            </>
          )}
        </p>
      )}
      {onRetry && (
        <button type="button" className="btn" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A fault of the page itself, such as a file of it that could not be loaded. */
export function PageError({ error }: ErrorComponentProps) {
  return <ErrorState error={error as Error} onRetry={() => location.reload()} />;
}

/**
 * Data of a query in each state: skeleton, error, or the data. When a refresh fails, the last data stay with their age.
 *
 * @param skeleton of the final size
 */
export function Loaded<T>({
  query,
  skeleton,
  children,
}: {
  readonly query: UseQueryResult<T, Error>;
  readonly skeleton?: ReactNode;
  readonly children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data === undefined) {
    return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : (skeleton ?? <Skeleton />);
  }
  return (
    <>
      {error && <StaleNotice error={error} since={query.dataUpdatedAt} onRetry={() => void refetch()} />}
      {children(data)}
    </>
  );
}

function StaleNotice(props: { readonly error: Error; readonly since: number; readonly onRetry: () => void }) {
  const now = useNow(10_000);
  const isBannered = useContext(BanneredContext);
  if (isBannered && isSilence(props.error)) return null;
  return (
    <p className="notice" data-tone="warn" role="status">
      <CloudOff aria-hidden="true" /> Not up to date: the last data are from {age(props.since, now)}.{' '}
      {props.error.message}
      <button type="button" className="btn small" onClick={props.onRetry}>
        Try again
      </button>
    </p>
  );
}
