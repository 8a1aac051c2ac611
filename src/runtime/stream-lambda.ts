import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { handle } from 'hono/aws-lambda';
import type { ServiceName } from '#contract/operation.ts';
import type { StreamHandlers } from './handler.ts';
import { gatewayLambda, type ServiceLambdaOptions } from './lambda.ts';
import { createStreams, type ServiceApp } from './service.ts';

/** As of a buffered function, but that the body may be a stream. */
interface StreamedResult extends Omit<APIGatewayProxyResult, 'body'> {
  readonly body: string | ReadableStream<Uint8Array>;
}

/**
 * The Lambda handler of the rows of a service that answer streams, behind a REST API whose integration has the transfer
 * mode STREAM. Refusals are answered by it too, as everywhere.
 */
export function streamLambda<S extends ServiceName>(
  service: S,
  handlers: StreamHandlers<S>,
  options: ServiceLambdaOptions,
) {
  const invoke = gatewayLambda(
    service,
    (deps) => createStreams(service, handlers, deps),
    handleStream,
    options,
  );
  return awslambda.streamifyResponse<APIGatewayProxyEvent>(async (event, output, context) => {
    const { body, statusCode, headers, multiValueHeaders } = (await invoke(event, context)) as StreamedResult;
    const response = awslambda.HttpResponseStream.from(output, { statusCode, headers, multiValueHeaders });
    if (typeof body !== 'string') {
      // Whoever has gone is no fault of the function.
      await pipeline(Readable.fromWeb(body as never), response).catch(() => undefined);
      return;
    }
    // Status and headers go out with the first write, of nothing too.
    response.write(body);
    await new Promise<void>((resolve) => response.end(resolve));
  });
}

/** Hono's own adapter collects bodies: it is given an empty one in place of a stream, which is put back afterwards. */
function handleStream(app: ServiceApp) {
  return async (event: APIGatewayProxyEvent, context: Context): Promise<StreamedResult> => {
    let stream: ReadableStream<Uint8Array> | null = null;
    const fetch: ServiceApp['fetch'] = async (...call) => {
      const response = await app.fetch(...call);
      if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) return response;
      stream = response.body;
      return new Response(null, response);
    };
    const result = (await handle({ fetch } as ServiceApp)(
      event as never,
      context as never,
    )) as APIGatewayProxyResult;
    return { ...result, body: stream ?? result.body };
  };
}
