import { useQueryClient } from '@tanstack/react-query';
import { CloudOff } from 'lucide-react';
import { useEffect } from 'react';
import { loadUnanswered, useConnection } from '../api/connection.ts';
import { age } from './format.ts';
import { useNow } from './now.ts';

/** Milliseconds between two tries of what no answer came to. */
const RETRY = 10_000;

/** One line for all that the page shows, while the platform does not answer. */
export function ConnectionBanner() {
  const client = useQueryClient();
  const { silence, lastAnswer } = useConnection();
  const isDown = silence !== undefined;
  const now = useNow(RETRY);
  useEffect(() => {
    if (!isDown) return;
    const timer = setInterval(() => {
      if (!document.hidden) loadUnanswered(client);
    }, RETRY);
    return () => {
      clearInterval(timer);
      loadUnanswered(client);
    };
  }, [isDown, client]);
  return (
    <div role="status">
      {isDown && (
        <p className="notice down-banner" data-tone="warn">
          <CloudOff aria-hidden="true" />
          <span>
            {lastAnswer !== undefined && `Not up to date: the last data are from ${age(lastAnswer, now)}. `}
            {silence}
          </span>
          <button type="button" className="btn small" onClick={() => loadUnanswered(client)}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}
