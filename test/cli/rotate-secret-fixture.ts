import { afterEach, beforeEach, expect } from 'vitest';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { createDataProxy } from '#runtime/data-proxy/create-data-proxy.ts';
import type { ProxyEnvelope } from '#runtime/data-proxy/envelope.ts';
import { withServiceTokens } from '#runtime/fixed-tokens.ts';
import { rotateServiceTokens } from '../../bin/operate/rotate-secret.ts';
import { dataCollectionFixture } from '../runtime/data-collection-fixture.ts';
import { FakeDeployment } from '../support/fake-deployment.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';

interface RotationFixture {
  deployment: FakeDeployment;
  /** Calls of the data proxy that data collection rejected. */
  rejected: string[];
  requests: number;
  /** Lines that the rotation printed. */
  log: string[];
}

/** A deployed stage whose data proxy calls data collection after every change, fresh for each test. */
export function rotationFixture() {
  const { create } = dataCollectionFixture();
  const fixture = {} as RotationFixture;
  beforeEach(async () => {
    const deployment = await new FakeDeployment().start();
    deployment.onChange = callAll;
    Object.assign(fixture, { deployment, rejected: [], requests: 0, log: [] });
  });
  afterEach(async () => {
    await fixture.deployment.stop();
    expect(fixture.deployment.errors).toEqual([]);
  });

  /** Calls each task of data collection that responds through each version of the data proxy that gets calls. */
  async function callAll(): Promise<void> {
    const { deployment, rejected } = fixture;
    for (const accepted of deployment.responding) {
      const authenticate = withServiceTokens(accepted, withoutIdentityProvider({ enforced: true }));
      const { app } = create({}, { authenticate });
      for (const serviceToken of deployment.sent) {
        const proxy = createDataProxy({
          serviceToken,
          baseUrl: 'http://data-collection.internal:8002',
          requestTimeoutMs: 30_000,
          maxRetries: 0,
          clock: Date,
          sleep: async () => undefined,
          fetch: (async (url: string, init: RequestInit) => app.request(url, init)) as typeof fetch,
          timeoutSignal: () => new AbortController().signal,
          newCorrelationId: () => 'probe',
        });
        const { body } = (await proxy({ operation: 'symbols' }, LAMBDA_CONTEXT as never)) as ProxyEnvelope;
        fixture.requests++;
        const error = body.success ? body.data.result?.error : body;
        if (error) rejected.push(`after ${deployment.calls.at(-1)}: ${JSON.stringify(error)}`);
      }
    }
  }

  function rotate(): Promise<void> {
    const { deployment, log } = fixture;
    return rotateServiceTokens('touchstone-prod-platform', {
      aws: deployment.aws,
      log: (line) => log.push(line),
      wait: deployment.wait,
    });
  }

  const tokens = () => [...fixture.deployment.secrets.values()].map(({ value }) => value);
  return { fixture, callAll, rotate, tokens };
}
