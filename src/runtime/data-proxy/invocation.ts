import { isJsonObject, type JsonObject } from './envelope.ts';

/** What was asked, freed of how it came in. Nothing in it is validated. */
export interface Invocation {
  /** Came through API Gateway, which wants a string body back. */
  readonly overHttp: boolean;
  /** `{operation, params, deadline_ms}`, or undefined when the HTTP body is not a JSON object. */
  readonly input: JsonObject | undefined;
  /** As sent by the caller, else the gateway's own id; undefined when there is none. */
  readonly correlationId: unknown;
}

/** Reads both shapes: the object that an orchestrator passes and API Gateway's proxy event (has `requestContext`). */
export function readInvocation(event: unknown): Invocation {
  if (!isJsonObject(event)) return { overHttp: false, input: undefined, correlationId: undefined };
  if (!isJsonObject(event.requestContext)) {
    return { overHttp: false, input: event, correlationId: event.correlation_id };
  }
  return {
    overHttp: true,
    input: readBody(event),
    correlationId: header(event.headers, 'x-correlation-id') ?? event.requestContext.requestId,
  };
}

function readBody({ body, isBase64Encoded }: JsonObject): JsonObject | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const parsed = JSON.parse(isBase64Encoded === true ? Buffer.from(body, 'base64').toString('utf8') : body);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function header(headers: unknown, name: string): unknown {
  if (!isJsonObject(headers)) return undefined;
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}
