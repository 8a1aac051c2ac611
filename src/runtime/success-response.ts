import { type Operation, WITHOUT_BODY } from '#contract/operation.ts';

/** What a handler answers. */
export interface HandlerResult {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const BASE_HEADERS = { 'Cache-Control': 'no-store' };

/** The response to what was asked with that method, as the row describes it. */
export async function successResponse(
  operation: Operation,
  { status, body, headers }: HandlerResult,
  method: string,
): Promise<Response> {
  const { schema, contentType = 'application/json' } = operation.success[status]!;
  if (WITHOUT_BODY.includes(status)) {
    return new Response(null, { status, headers: { ...BASE_HEADERS, ...headers } });
  }
  const sent = schema ? JSON.stringify(body) : (body as string | ReadableStream<Uint8Array>);
  // In an answer to HEAD nobody would read the stream, nor end it.
  if (method === 'HEAD' && sent instanceof ReadableStream) await sent.cancel();
  return new Response(sent, {
    status,
    headers: { ...BASE_HEADERS, 'Content-Type': contentType, ...headers },
  });
}
