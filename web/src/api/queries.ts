import {
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQueries,
  useQuery,
} from '@tanstack/react-query';
import { ApiError, call, type OperationId, type RequestOf, type ResponseOf } from './client.ts';
import { noteConnection } from './connection.ts';
import { countKey } from './job-cache.ts';
import { isLive, useLive } from './live.ts';

/** Milliseconds between two polls: while something moves, else, and at most after errors. */
const POLL = { moving: 2_000, still: 20_000, most: 60_000 } as const;

/** Faults of the way are worth another try; a rejection is not. */
function isWorthRetrying(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500;
}

/**
 * One cache for all pages. Data stay in view when a refresh fails.
 *
 * @param onUnauthorized called for a call that needs a token, or a newer one
 */
export function createQueryClient(onUnauthorized: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.status === 401) onUnauthorized();
  };
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        noteConnection(query, error);
        onError(error);
      },
      onSuccess: (_, query) => noteConnection(query),
    }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: 5_000,
        retry: (failures, error) => failures < 2 && isWorthRetrying(error),
        retryDelay: (failures, error) =>
          error instanceof ApiError && error.retryAfter !== undefined
            ? Math.min(error.retryAfter * 1_000, POLL.most)
            : 500 * 2 ** failures,
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/** Query of an operation. Its key starts with the operation's id, so `invalidateQueries({queryKey: [id]})` reaches all of them. */
export function queryOf<I extends OperationId>(id: I, request: RequestOf<I>) {
  return queryOptions<ResponseOf<I>, Error, ResponseOf<I>>({
    queryKey: [id, request],
    queryFn: ({ signal }) => call(id, request, { signal }),
  });
}

export interface UseCallOptions<T> {
  /** False: the call waits, for example for an id. Default true. */
  readonly enabled?: boolean;
  /**
   * Polls: every 2 s while it returns true for the newest data, else every 20 s; up to 60 s after errors; never in hidden tabs.
   * Data that the stream of jobs keeps up to date are polled every 20 s.
   */
  readonly isMoving?: (data: T) => boolean;
  /** The data never change: they are loaded once. */
  readonly isImmutable?: boolean;
  /** Reads the data instead of one call of the operation, for example all pages of a list. */
  readonly read?: (signal: AbortSignal) => Promise<T>;
  /** Keep the data of the last request in view while those of the next load, for example of another page. */
  readonly keepPrevious?: boolean;
}

function callOptions<I extends OperationId>(
  id: I,
  request: RequestOf<I>,
  {
    enabled = true,
    isMoving,
    isImmutable = false,
    keepPrevious = false,
    read,
  }: UseCallOptions<ResponseOf<I>>,
): UseQueryOptions<ResponseOf<I>, Error> {
  return {
    ...queryOf(id, request),
    ...(read ? { queryFn: ({ signal }) => read(signal) } : {}),
    enabled,
    ...(isImmutable ? { staleTime: Number.POSITIVE_INFINITY } : {}),
    ...(keepPrevious ? { placeholderData: (previous: ResponseOf<I> | undefined) => previous as never } : {}),
    ...(isMoving
      ? {
          refetchInterval: ({ state }) => {
            const isFast = state.data !== undefined && isMoving(state.data) && !isLive(id);
            const base = isFast ? POLL.moving : POLL.still;
            return Math.min(POLL.most, base * 2 ** state.fetchFailureCount);
          },
        }
      : {}),
  };
}

/** Data of an operation, from the cache or the service. */
export function useCall<I extends OperationId>(
  id: I,
  request: RequestOf<I>,
  options: UseCallOptions<ResponseOf<I>> = {},
): UseQueryResult<ResponseOf<I>, Error> {
  const query = useQuery(callOptions(id, request, options));
  useLive(id, query.data !== undefined && options.isMoving?.(query.data) === true);
  return query;
}

/** Milliseconds between two loads of a count. */
const COUNT_REFRESH = 30_000;

/** Number of jobs that pass the filters of a list; loaded again every 30 s, and after an action of the user that changes the list. */
export function countOf<I extends 'listBacktests' | 'listHyperopts'>(
  id: I,
  filters: NonNullable<RequestOf<I>['query']>,
) {
  return queryOptions({
    queryKey: countKey(id, filters),
    queryFn: async ({ signal }): Promise<Count | null> =>
      (
        await call<'listBacktests' | 'listHyperopts'>(
          id,
          { query: { ...filters, limit: 1, count: true } },
          { signal },
        )
      ).count ?? null,
    placeholderData: (previous) => previous,
    staleTime: COUNT_REFRESH / 2,
    refetchInterval: COUNT_REFRESH,
  });
}

type Count = NonNullable<ResponseOf<'listBacktests'>['count']>;

/** Data of several calls of an operation, in the order of the requests. */
export function useCalls<I extends OperationId>(
  id: I,
  requests: readonly RequestOf<I>[],
  options: UseCallOptions<ResponseOf<I>> = {},
): readonly UseQueryResult<ResponseOf<I>, Error>[] {
  const results = useQueries({
    queries: requests.map((request) => callOptions(id, request, options)),
  }) as readonly UseQueryResult<ResponseOf<I>, Error>[];
  useLive(
    id,
    results.some(({ data }) => data !== undefined && options.isMoving?.(data) === true),
  );
  return results;
}

/** Sends the failed ones of several calls again. */
export function retryFailed(results: readonly UseQueryResult<unknown, Error>[]): void {
  for (const { error, refetch } of results) if (error) void refetch();
}

/** A call that changes something. After it, the lists and details of `invalidates` load again. */
export function useAction<I extends OperationId>(id: I, invalidates: readonly OperationId[] = []) {
  return useMutation<ResponseOf<I>, Error, RequestOf<I>>({
    mutationFn: (request) => call(id, request, { headers: idempotency(request) }),
    onSettled: (_data, _error, _request, _result, { client }) =>
      Promise.all(
        invalidates.flatMap((each) => [
          client.invalidateQueries({ queryKey: [each] }),
          client.invalidateQueries({ queryKey: countKey(each) }),
        ]),
      ),
  });
}

const keys = new WeakMap<object, string>();

/** The same request object has the same key: a second try never starts a second job. */
function idempotency(request: object): Record<string, string> {
  const key = keys.get(request) ?? crypto.randomUUID();
  keys.set(request, key);
  return { 'Idempotency-Key': key };
}
