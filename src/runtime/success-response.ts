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
  const head = { status, headers: { ...BASE_HEADERS, 'Content-Type': contentType, ...headers } };
  if (method === 'HEAD' && body instanceof ReadableStream) {
    // Nobody would read it, nor end it.
    await body.cancel();
    return new Response(null, head);
  }
  return new Response(schema ? JSON.stringify(body) : (body as string | ReadableStream<Uint8Array>), head);
}
