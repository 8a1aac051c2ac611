import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode } from '#contract/errors.ts';
import { operationsOf } from '#contract/operations.ts';
import { ofType, type Resource, synthesize } from '../support/stacks.ts';

const dev = synthesize('dev');
const prod = synthesize('prod');

/** Path of every API resource, by its id. */
const paths = new Map<string, string>();
const resources = new Map(ofType(dev, 'AWS::ApiGateway::Resource'));
for (const id of resources.keys()) paths.set(id, pathOf(id));

function pathOf(id: string): string {
  const { ParentId, PathPart } = (resources.get(id) as Resource).Properties;
  const parent = ParentId.Ref ? pathOf(ParentId.Ref) : '';
  return `${parent}/${PathPart}`;
}

describe('routes', () => {
  const all = ofType(dev, 'AWS::ApiGateway::Method').map(([, each]) => each.Properties);
  const methods = all.filter(({ HttpMethod }) => HttpMethod === 'ANY');
  const routed = methods.map(({ ResourceId }) => (ResourceId.Ref ? paths.get(ResourceId.Ref)! : '/'));

  test('there is one for every operation of the table', () => {
    for (const { id, path } of operationsOf('backend')) expect(routed, id).toContain(path);
  });

  test('every resource takes any method, so that the service words its own 404 and 405', () => {
    expect([...routed].sort()).toEqual(['/', ...paths.values()].sort());
    expect(routed).toContain('/{proxy+}');
  });

  test('all lead to the alias of the backend with one permission', () => {
    for (const { Integration, AuthorizationType } of methods) {
      expect(Integration.Type).toBe('AWS_PROXY');
      expect(JSON.stringify(Integration.Uri)).toContain('BackendLive');
      expect(AuthorizationType).toBe('NONE');
    }
    expect(gatewayPermissions('BackendLive')).toHaveLength(1);
  });

  test("the data proxy's leads to its alias, with a permission for that method alone", () => {
    const own = all.filter(({ HttpMethod }) => HttpMethod !== 'ANY');
    expect(own.map(({ HttpMethod, ResourceId }) => `${HttpMethod} ${paths.get(ResourceId.Ref)}`)).toEqual([
      'POST /api/v1/data-proxy',
    ]);
    expect(own[0]!.Integration.Type).toBe('AWS_PROXY');
    expect(JSON.stringify(own[0]!.Integration.Uri)).toContain('DataProxyServiceLive');
    const [permission, ...others] = gatewayPermissions('DataProxyServiceLive');
    expect(others).toEqual([]);
    expect(JSON.stringify(permission!.SourceArn)).toContain('/POST/api/v1/data-proxy');
  });

  test("the data proxy's is open in development and asks for IAM's signature in production", () => {
    const authorization = (stage: typeof dev) =>
      ofType(stage, 'AWS::ApiGateway::Method')
        .map(([, { Properties }]) => Properties)
        .find(({ HttpMethod }) => HttpMethod === 'POST')!.AuthorizationType;
    expect(authorization(dev)).toBe('NONE');
    expect(authorization(prod)).toBe('AWS_IAM');
  });

  function gatewayPermissions(alias: string) {
    return ofType(dev, 'AWS::Lambda::Permission')
      .map(([, { Properties }]) => Properties)
      .filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
      .filter(({ FunctionName }) => JSON.stringify(FunctionName).includes(alias));
  }

  test('no two siblings are variables of different names', () => {
    const byParent = Map.groupBy(
      [...paths.values()].filter((path) => /\{[^+]+\}$/.test(path)),
      (path) => path.slice(0, path.lastIndexOf('/')),
    );
    for (const [parent, siblings] of byParent) expect(siblings, parent).toHaveLength(1);
  });
});

describe('errors of the gateway itself', () => {
  const responses = ofType(dev, 'AWS::ApiGateway::GatewayResponse').map(([, each]) => each.Properties);

  test('there is an answer for every type there is', () => {
    const types = Object.values(ResponseType)
      .filter((value): value is ResponseType => value instanceof ResponseType)
      .map(({ responseType }) => responseType);
    expect(types.length).toBeGreaterThan(20);
    expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(types.sort());
  });

  test('each carries the header and the coded body', () => {
    for (const { ResponseType: type, ResponseParameters, ResponseTemplates, StatusCode } of responses) {
      expect(ResponseParameters['gatewayresponse.header.X-Correlation-ID'], type).toBe('context.requestId');
      const { detail } = JSON.parse(ResponseTemplates['application/json']);
      expect(Object.keys(detail), type).toEqual(['code', 'message', 'field', 'context']);
      const known = ERRORS[detail.code as ErrorCode];
      if (type.startsWith('DEFAULT_')) expect(StatusCode, type).toBeUndefined();
      else expect(StatusCode, type).toBe(String(known.status));
    }
  });

  test.each([
    ['MISSING_AUTHENTICATION_TOKEN', '401'],
    ['REQUEST_TOO_LARGE', '413'],
    ['THROTTLED', '429'],
    ['INTEGRATION_FAILURE', '502'],
    ['INTEGRATION_TIMEOUT', '504'],
  ])('%s is %s', (type, status) => {
    expect(responses.find((each) => each.ResponseType === type)!.StatusCode).toBe(status);
  });

  test('whoever is throttled learns when to come back', () => {
    for (const { ResponseParameters, StatusCode } of responses) {
      expect('gatewayresponse.header.Retry-After' in ResponseParameters).toBe(StatusCode === '429');
    }
  });
});

test('the stage logs every request, traces and throttles', () => {
  dev.platform.hasResourceProperties('AWS::ApiGateway::RestApi', {
    EndpointConfiguration: { Types: ['REGIONAL'] },
  });
  const [, stage] = ofType(dev, 'AWS::ApiGateway::Stage')[0]!;
  expect(stage.Properties.AccessLogSetting.DestinationArn).toBeDefined();
  expect(stage.Properties.TracingEnabled).toBe(true);
  expect(stage.Properties.MethodSettings[0]).toMatchObject({
    ThrottlingRateLimit: 200,
    ThrottlingBurstLimit: 400,
  });
});

test('a firewall stands before the API of production alone', () => {
  expect(ofType(dev, 'AWS::WAFv2::WebACLAssociation')).toEqual([]);
  expect(ofType(prod, 'AWS::WAFv2::WebACLAssociation')).toHaveLength(1);
});
