import {
  type ApiError,
  authorization,
  type EventsOf,
  errorOf,
  type OperationId,
  type RequestOf,
  renewToken,
  urlOf,
} from './client.ts';
import { followStream, type Rejection, type StreamState } from './event-stream.ts';

export type { StreamState } from './event-stream.ts';

/** An event of a streaming operation, by name. */
type StreamEvent<I extends OperationId> = {
  [N in keyof EventsOf<I>]: { readonly name: N; readonly id: string; readonly data: EventsOf<I>[N] };
}[keyof EventsOf<I>];

export interface FollowOptions<I extends OperationId> {
  readonly signal: AbortSignal;
  readonly onEvent: (event: StreamEvent<I>) => void;
  /** `error` comes with `retrying` and `refused`. */
  readonly onState?: (state: StreamState, error?: Error) => void;
  /** Last event id that the caller has; the stream sends what came after it. */
  readonly lastId?: string | undefined;
}

/** Follows the events of a streaming operation. EventSource can send no Authorization header; fetch can. */
export async function follow<I extends OperationId>(
  id: I,
  request: RequestOf<I>,
  options: FollowOptions<I>,
): Promise<void> {
  const { signal, onState, lastId } = options;
  await followStream({
    signal,
    onState,
    lastId,
    open: (last) => connect(id, request, last, signal),
    onEvent: (event) => options.onEvent({ ...event, data: JSON.parse(event.data) } as never),
  });
}

async function connect(
  id: OperationId,
  request: { readonly params?: object; readonly query?: object },
  lastId: string | undefined,
  signal: AbortSignal,
): Promise<Response | Rejection> {
  const send = async () =>
    fetch(urlOf(id, request), {
      signal,
      cache: 'no-store',
      headers: {
        Accept: 'text/event-stream',
        ...(lastId ? { 'Last-Event-ID': lastId } : {}),
        ...(await authorization()),
      },
    });
  const first = await send();
  const response = first.status === 401 && (await renewToken()) ? await send() : first;
  if (response.ok) return response;
  const error = await errorOf(response);
  return { error, isFinal: isFinal(error), retryAfter: error.retryAfter };
}

/** A rejection stays one; a server error and a throttled call pass. */
function isFinal({ status }: ApiError): boolean {
  return status < 500 && status !== 429 && status !== 408;
}
