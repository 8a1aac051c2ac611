import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { call, type EventsOf, type RequestOf, type ResponseOf } from '../../api/client.ts';
import { follow, type StreamState } from '../../api/events.ts';
import { PerFrame } from '../../api/frames.ts';
import { queryOf, useCall } from '../../api/queries.ts';

export type Job = ResponseOf<'getHyperopt'>;
export type Trial = ResponseOf<'listHyperoptTrials'>['items'][number];

/** A finished trial, as the event stream has it. */
export interface EndedTrial extends Omit<EventsOf<'watchHyperopt'>['trial'], 'progress'> {
  /** Place in the order of the ends, from 1. */
  readonly sequence: number;
}

export function isMoving({ status }: Pick<Job, 'status'>): boolean {
  return status === 'pending' || status === 'running';
}

const isShown = () => document.visibilityState !== 'hidden';

function useIsShown(): boolean {
  return useSyncExternalStore((listener) => {
    document.addEventListener('visibilitychange', listener);
    return () => document.removeEventListener('visibilitychange', listener);
  }, isShown);
}

/** Without the stream, the trials are read this often, in milliseconds. */
const POLL_TRIALS = { moving: 5_000, still: 60_000 } as const;

/** Trials of a page of the list, its maximum. */
const PAGE = 100;

/** Every finished trial from the list, in the order of their ends: for when the stream is refused or broken. */
async function listedTrials(id: string, signal: AbortSignal): Promise<readonly EndedTrial[]> {
  const found: Trial[] = [];
  let cursor: string | undefined;
  do {
    const request: RequestOf<'listHyperoptTrials'> = {
      params: { job_id: id },
      query: { limit: PAGE, cursor },
    };
    const page = await call('listHyperoptTrials', request, { signal });
    found.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found
    .filter((trial) => trial.state !== 'running')
    .sort((a, b) => (a.finished_at ?? '').localeCompare(b.finished_at ?? '') || a.number - b.number)
    .map(({ number, state, value, violation, params }, index) => ({
      number,
      value,
      violation,
      params,
      sequence: index + 1,
      best_value: null,
      state: state as EndedTrial['state'],
    }));
}

export interface LiveTrials {
  /** In the order of their ends. */
  readonly trials: readonly EndedTrial[];
  readonly state: StreamState;
  /** Error of the stream when there are no trials because of it. */
  readonly error: Error | undefined;
}

/**
 * The finished trials of a job and each further one as it ends. The stream is held while the tab is in view, and continues from
 * the last event that it had; while it is broken or refused, the list of trials is polled.
 * Long because what begins and ends the stream is one effect.
 */
export function useTrials(id: string, isJobMoving: boolean): LiveTrials {
  const client = useQueryClient();
  const shown = useIsShown();
  const [trials, setTrials] = useState<readonly EndedTrial[]>([]);
  const [state, setState] = useState<StreamState>('connecting');
  const [error, setError] = useState<Error>();
  const lastId = useRef<string>(undefined);
  useEffect(() => {
    if (!shown) return;
    const stop = new AbortController();
    const jobKey = queryOf('getHyperopt', { params: { job_id: id } }).queryKey;
    const frames = new PerFrame<EndedTrial>((values) =>
      setTrials((before) => {
        const after = before.at(-1)?.sequence ?? 0;
        return [...before, ...values.filter(({ sequence }) => sequence > after)];
      }),
    );
    void follow(
      'watchHyperopt',
      { params: { job_id: id } },
      {
        signal: stop.signal,
        lastId: lastId.current,
        onState: (next, reason) => {
          setState(next);
          setError(reason);
        },
        onEvent: (event) => {
          if (event.id) lastId.current = event.id;
          if (event.name === 'trial') {
            const { progress: _, ...trial } = event.data;
            frames.add({ ...trial, sequence: Number(event.id) });
          } else if (event.name === 'permuted_search') {
            const { ended, total, progress } = event.data;
            client.setQueryData(
              jobKey,
              (job: Job | undefined) => job && { ...job, permutations: { ended, total }, progress },
            );
          } else client.setQueryData(jobKey, event.data);
        },
      },
    );
    return () => {
      stop.abort();
      frames.stop();
    };
  }, [id, shown, client]);
  const isBroken = state === 'retrying' || state === 'refused';
  const listed = useQuery({
    queryKey: ['listHyperoptTrials', 'every', id],
    queryFn: ({ signal }) => listedTrials(id, signal),
    enabled: isBroken,
    refetchInterval: isJobMoving ? POLL_TRIALS.moving : POLL_TRIALS.still,
  });
  const isListed = isBroken && (listed.data?.length ?? 0) > trials.length;
  return {
    trials: isListed ? listed.data! : trials,
    state,
    error: listed.error ?? (listed.data ? undefined : error),
  };
}

/** The job; the stream keeps it up to date as well. */
export function useJob(id: string) {
  return useCall('getHyperopt', { params: { job_id: id } }, { isMoving });
}
