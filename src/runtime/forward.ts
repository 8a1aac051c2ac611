import { Hono } from 'hono';
import { proxy } from 'hono/proxy';
import { CodedError } from '#contract/errors.ts';
import { CORRELATION_HEADER } from '#contract/names.ts';
import type { ServiceName } from '#contract/operation.ts';
import { ORIGIN_TOKEN_HEADER } from '#contract/origin-token.ts';
import { gatewayLambda, type ServiceHost } from './lambda.ts';
import type { LogLevel } from './log.ts';
import { fail, type ServiceApp, track } from './service.ts';

export interface Target {
  /** URL of the service that receives the requests; null if it could not be resolved. */
  readonly baseUrl: string | null;
  /** Name of the service in messages. */
  readonly name: string;
  /** Maximum wait for the service's response, ms: shorter than the host's time limit. */
  readonly timeoutMs: number;
  /** The service belongs to this deployment: it may see the token of CloudFront. */
  readonly isOurs: boolean;
}

/** Lambda handler that passes the requests of a REST API on to the service, which runs elsewhere. */
export function forwardLambda(
  service: ServiceName,
  target: Target,
  options: { readonly environment: string; readonly logLevel: LogLevel },
) {
  return gatewayLambda(service, (host) => createForwarder(target, host), options);
}

/** HTTP application that passes every request on and returns the response: the service checks both. */
function createForwarder({ baseUrl, name, timeoutMs, isOurs }: Target, host: ServiceHost): ServiceApp {
  const app: ServiceApp = new Hono();
  app.use('*', (c, next) => track(c, next, host));
  app.all('*', async (c) => {
    if (baseUrl === null) {
      throw new CodedError('SVC004', { message: `The address of ${name} is not configured` });
    }
    const { pathname, search } = new URL(c.req.url);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await proxy(`${baseUrl.replace(/\/+$/, '')}${pathname}${search}`, {
        raw: c.req.raw,
        headers: {
          ...c.req.header(),
          [CORRELATION_HEADER]: c.var.correlationId,
          host: undefined,
          ...(!isOurs && { [ORIGIN_TOKEN_HEADER]: undefined }),
        },
        // Following one could reach addresses that only this host can reach (SSRF).
        redirect: 'manual',
        signal,
      });
      // Within the time limit: API Gateway gets whole responses.
      const bytes = await response.arrayBuffer();
      return new Response(bytes.byteLength > 0 ? bytes : null, response);
    } catch (cause) {
      if (signal.aborted) throw new CodedError('SVC006', { cause });
      throw new CodedError('SVC004', { message: `${name} could not be reached: try again`, cause });
    }
  });
  // The service has checked its own responses.
  app.onError((error, c) => fail(c, error, { ...host, checkResponses: false }));
  return app;
}
