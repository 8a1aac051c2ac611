import { describe, expect, test } from 'vitest';
import { operationsOf } from '#contract/operations/operations.ts';
import { gatewayPermissions, ownRoutes, routesOf } from '../support/gateway-routes.ts';
import { ofType, type Synthesized, templatesOf } from '../support/stacks.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

const STRATEGY_API = /^StrategyApi/;

describe('streaming routes', () => {
  const rows = operationsOf('strategy').filter(({ streams }) => streams);

  test.each([dev, prod])(
    'streaming routes match the operations and pass events through unbuffered in $config.stage',
    (stage) => {
      expect(rows.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'GET /api/v1/hyperopt/{job_id}/events',
      ]);
      const own = ownRoutes(stage, STRATEGY_API);
      expect(own.map(({ method, path }) => `${method} ${path}`)).toEqual(
        rows.map(({ method, path }) => `${method} ${path}`),
      );
      for (const { security, integration } of own) {
        // The service authorizes callers by token, as for all routes.
        expect(security).toEqual([]);
        expect(integration).toMatchObject({
          type: 'aws_proxy',
          httpMethod: 'POST',
          responseTransferMode: 'STREAM',
          timeoutInMillis: 900_000,
        });
        const uri = JSON.stringify(integration.uri);
        expect(uri).toContain('lambda:path/2021-11-15/functions/');
        expect(uri).toContain('StrategyEventsLive');
        expect(uri).toContain('/response-streaming-invocations');
      }
    },
  );

  test('streaming routes have one permission, for that method only', () => {
    const [permission, ...others] = gatewayPermissions(dev, 'StrategyEventsLive');
    expect(others).toEqual([]);
    expect(JSON.stringify(permission!.SourceArn)).toContain('/GET/api/v1/hyperopt/*/events');
  });

  test('backend streams the events of jobs by a function of their own', () => {
    const streamed = ownRoutes(prod, /^BackendApi/).filter(
      ({ integration }) => integration.responseTransferMode === 'STREAM',
    );
    expect(streamed.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /api/v1/events']);
    expect(JSON.stringify(streamed[0]!.integration.uri)).toContain('JobEventsLive');
    const [permission, ...others] = gatewayPermissions(prod, 'JobEventsLive');
    expect(others).toEqual([]);
    expect(JSON.stringify(permission!.SourceArn)).toContain('/GET/api/v1/events');
  });

  test('no other route is streamed', () => {
    const modes = [/^BackendApi/, STRATEGY_API].flatMap((api) =>
      routesOf(dev, api).map(({ integration }) => integration.responseTransferMode),
    );
    expect(modes.filter(Boolean)).toHaveLength(rows.length + 1);
  });
});

test('event streams and the data proxy use at most their reserved concurrency, where configured', () => {
  const reserved = (stage: Synthesized) =>
    ofType(stage, 'AWS::Lambda::Function').flatMap(([id, { Properties }]) =>
      'ReservedConcurrentExecutions' in Properties
        ? [[id.replace(/[A-F0-9]{8}$/, ''), Properties.ReservedConcurrentExecutions]]
        : [],
    );
  expect(reserved(dev)).toEqual([]);
  expect(reserved(prod)).toEqual([
    ['DataProxyServiceFunction', 50],
    ['StrategyEventsFunction', 100],
    ['JobEventsFunction', 100],
  ]);
});
