import { type Dispatch, type SetStateAction, useEffect, useState } from 'react';
import { webConfig } from '../api/config.ts';
import { useMe } from '../auth/me.ts';
import { DRAFT_PREFIX } from '../auth/unsent-drafts.ts';

interface Kept {
  /** Version of the dashboard: another one may have other fields. */
  readonly version: string;
  readonly owner: string;
  readonly source: string;
  readonly draft: unknown;
}

export interface DraftState<T> {
  /** Values that the form had first, before any change. */
  readonly initial: T;
  readonly draft: T;
  readonly setDraft: Dispatch<SetStateAction<T>>;
  /** True: it was filled before and not sent. */
  readonly isRestored: boolean;
  /** Begins again with the initial values. */
  readonly reset: () => void;
  /** Forgets the kept draft, which was sent. */
  readonly drop: () => void;
}

/**
 * What a form holds. Changes are kept until it is sent or its user signs out, the last one of each form.
 *
 * @param form name of the form, unique in the dashboard
 * @param source says what the form was filled from: a draft is for the same one only
 * @param first values of the form when it opens
 */
export function useDraft<T>(form: string, source: string, first: T): DraftState<T> {
  const [initial] = useState(first);
  const owner = useMe()?.subject;
  const key = DRAFT_PREFIX + form;
  const { version } = webConfig();
  const [restored] = useState(() => {
    const kept = read(key);
    const isSame = kept?.version === version && kept.owner === owner && kept.source === source;
    return isSame ? (kept.draft as T) : undefined;
  });
  const [isRestored, setRestored] = useState(restored !== undefined);
  const [draft, setDraft] = useState(restored ?? initial);
  useEffect(() => {
    if (draft === initial || owner === undefined) return;
    keep(key, { version, owner, source, draft });
  }, [key, version, owner, source, draft, initial]);
  const drop = () => sessionStorage.removeItem(key);
  const reset = () => {
    drop();
    setRestored(false);
    setDraft(initial);
  };
  return { initial, draft, setDraft, isRestored, reset, drop };
}

function read(key: string): Kept | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Kept | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function keep(key: string, kept: Kept): void {
  // A number that is being typed may be none yet. JSON has no such number, and would make it null.
  const text = JSON.stringify(kept, (_, value: unknown) => (Number.isNaN(value) ? undefined : value));
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // The storage is full: the form works, but does not survive the page.
  }
}
