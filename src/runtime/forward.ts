import { Hono } from 'hono';
import { proxy } from 'hono/proxy';
import { ORIGIN_TOKEN_HEADER, VIEWER_ADDRESS_HEADER } from '#contract/env/origin-token.ts';
import { CodedError } from '#contract/values/errors.ts';
import { CORRELATION_HEADER } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { gatewayLambda, type ServiceHost } from './lambda.ts';
import type { LogLevel } from './log.ts';
import { fail, type ServiceApp, track } from './service.ts';
import { viewerAddress } from './viewer-address.ts';

export interface Target {
  /** URL of the service that receives the requests; null if it could not be resolved. */
  readonly baseUrl: string | null;
  /** Name of the service in messages. */
  readonly name: string;
  /** Maximum wait for the service's response, ms: shorter than the host's time limit. */
  readonly timeoutMs: number;
  /**
   * Tokens of CloudFront, first the one that is sent: with it the service believes the caller's address, where it would see this
   * host's. Undefined for a service of another deployment, which must not see them.
   */
  readonly originTokens: readonly (string | undefined)[];
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
function createForwarder({ baseUrl, name, timeoutMs, originTokens }: Target, host: ServiceHost): ServiceApp {
  const app: ServiceApp = new Hono();
  app.use('*', (c, next) => track(c, next, host));
  app.all('*', async (c) => {
    if (baseUrl === null) {
      throw new CodedError('SVC004', { message: `The address of ${name} is not configured` });
    }
    const { pathname, search } = new URL(c.req.url);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await proxy(`${baseUrl.replace(/\/$/, '')}${pathname}${search}`, {
        raw: c.req.raw,
        headers: {
          ...c.req.header(),
          [CORRELATION_HEADER]: c.var.correlationId,
          host: undefined,
          [ORIGIN_TOKEN_HEADER]: originTokens[0],
          // Calls past CloudFront have the address that API Gateway saw.
          [VIEWER_ADDRESS_HEADER]:
            viewerAddress(c.req.raw.headers, originTokens) ?? c.env?.requestContext?.identity?.sourceIp,
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
