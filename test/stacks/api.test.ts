import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode } from '#contract/errors.ts';
import { pathsOf as pathsOfOperation } from '#contract/operation.ts';
import { operationsOf } from '#contract/operations.ts';
import { gatewayPermissions, methodsOf, ownRoutes, pathOf } from '../support/gateway-routes.ts';
import { ofType, type Synthesized, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

const SERVICES = [
  { service: 'backend', api: /^BackendApi/, alias: 'BackendLive' },
  { service: 'strategy', api: /^StrategyApi/, alias: 'StrategyServiceLive' },
] as const;

/** Resource paths of one API. */
const pathsOf = (api: RegExp) =>
  ofType(dev, 'AWS::ApiGateway::Resource')
    .filter(([id]) => api.test(id))
    .map(([id]) => pathOf(dev, id));

describe.each(SERVICES)('routes of the $service', ({ service, api, alias }) => {
  const paths = pathsOf(api);
  const methods = methodsOf(dev, api).filter(({ HttpMethod }) => HttpMethod === 'ANY');
  const routed = methods.map(({ ResourceId }) => (ResourceId.Ref ? pathOf(dev, ResourceId.Ref) : '/'));

  test('API has a resource for every path of every operation and no other', () => {
    const served = new Set(operationsOf(service).flatMap(pathsOfOperation));
    for (const path of served) expect(routed, path).toContain(path);
    const isAbove = (path: string) => [...served].some((each) => each.startsWith(`${path}/`));
    const others = routed.filter((path) => !served.has(path) && !isAbove(path));
    expect(others.sort()).toEqual(['/', '/{proxy+}']);
  });

  test("API has far fewer than 300 resources, API Gateway's limit", () => {
    expect(paths.length).toBeLessThan(150);
  });

  test('every resource accepts ANY method, so that the service returns its own 404 and 405', () => {
    expect([...routed].sort()).toEqual(['/', ...paths].sort());
    expect(routed).toContain('/{proxy+}');
  });

  test("all methods invoke the service's alias with one permission", () => {
    for (const { Integration, AuthorizationType } of methods) {
      expect(Integration.Type).toBe('AWS_PROXY');
      expect(JSON.stringify(Integration.Uri)).toContain(alias);
      expect(AuthorizationType).toBe('NONE');
    }
    expect(gatewayPermissions(dev, alias)).toHaveLength(1);
  });

  test('siblings never use different path variables', () => {
    const byParent = Map.groupBy(
      paths.filter((path) => /\{[^+]+\}$/.test(path)),
      (path) => path.slice(0, path.lastIndexOf('/')),
    );
    for (const [parent, siblings] of byParent) expect(siblings, parent).toHaveLength(1);
  });
});

describe('route of the data proxy', () => {
  const [{ api }] = SERVICES;

  test('route invokes the alias with a permission for that method only', () => {
    const own = ownRoutes(dev, api);
    expect(own.map(({ route }) => route)).toEqual(['POST /api/v1/data-proxy']);
    expect(own[0]!.method.Integration.Type).toBe('AWS_PROXY');
    expect(JSON.stringify(own[0]!.method.Integration.Uri)).toContain('DataProxyServiceLive');
    const [permission, ...others] = gatewayPermissions(dev, 'DataProxyServiceLive');
    expect(others).toEqual([]);
    expect(JSON.stringify(permission!.SourceArn)).toContain('/POST/api/v1/data-proxy');
  });

  test('route is open in development and requires an IAM signature in production', () => {
    const authorization = (stage: Synthesized) =>
      methodsOf(stage, api).find(({ HttpMethod }) => HttpMethod === 'POST')!.AuthorizationType;
    expect(authorization(dev)).toBe('NONE');
    expect(authorization(prod)).toBe('AWS_IAM');
  });
});

describe.each(SERVICES)('gateway errors of the $service', ({ api }) => {
  const responses = ofType(dev, 'AWS::ApiGateway::GatewayResponse')
    .filter(([id]) => api.test(id))
    .map(([, each]) => each.Properties);

  test('gateway has a response for every response type', () => {
    const types = Object.values(ResponseType)
      .filter((value): value is ResponseType => value instanceof ResponseType)
      .map(({ responseType }) => responseType);
    expect(types.length).toBeGreaterThan(20);
    expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(types.sort());
  });

  test('each gateway response has the correlation header and the coded body', () => {
    for (const { ResponseType: type, ResponseParameters, ResponseTemplates, StatusCode } of responses) {
      expect(ResponseParameters['gatewayresponse.header.X-Correlation-ID'], type).toBe('context.requestId');
      expect(ResponseParameters, type).toMatchObject({
        'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
        'gatewayresponse.header.Strict-Transport-Security': "'max-age=31536000'",
      });
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
  ])('gateway error %s is %s', (type, status) => {
    expect(responses.find((each) => each.ResponseType === type)!.StatusCode).toBe(status);
  });

  test('gateway returns Retry-After when it throttles a client', () => {
    for (const { ResponseParameters, StatusCode } of responses) {
      expect('gatewayresponse.header.Retry-After' in ResponseParameters).toBe(StatusCode === '429');
    }
  });
});

test('every stage logs requests, traces and throttles', () => {
  const apis = ofType(dev, 'AWS::ApiGateway::RestApi');
  const stages = ofType(dev, 'AWS::ApiGateway::Stage');
  expect([apis.length, stages.length]).toEqual([2, 2]);
  for (const [, { Properties }] of apis) {
    expect(Properties.EndpointConfiguration.Types).toEqual(['REGIONAL']);
  }
  for (const [id, { Properties }] of stages) {
    expect(Properties.AccessLogSetting.DestinationArn, id).toBeDefined();
    expect(Properties.TracingEnabled, id).toBe(true);
    expect(Properties.MethodSettings[0], id).toMatchObject({
      ThrottlingRateLimit: 200,
      ThrottlingBurstLimit: 400,
    });
  }
});

test("paths of challenges without a prefix have the API's stage, function, errors and limits", () => {
  const bare = operationsOf('strategy').flatMap((operation) => pathsOfOperation(operation).slice(1));
  expect(bare.length).toBeGreaterThanOrEqual(11);
  const methods = methodsOf(dev, /^StrategyApi/);
  const methodOf = (path: string) =>
    methods.filter(({ ResourceId }) => ResourceId.Ref && pathOf(dev, ResourceId.Ref) === path);
  for (const path of bare) {
    const { ResourceId: _, ...method } = methodOf(path)[0]!;
    const { ResourceId: __, ...prefixed } = methodOf(`/api/v1${path}`)[0]!;
    expect([path, methodOf(path).length, method]).toEqual([path, 1, prefixed]);
  }
  // One setting for all methods: throttling, logs and traces apply to the whole stage.
  for (const [id, { Properties }] of ofType(dev, 'AWS::ApiGateway::Stage')) {
    expect(Properties.MethodSettings, id).toHaveLength(1);
    expect(Properties.MethodSettings[0], id).toMatchObject({ HttpMethod: '*', ResourcePath: '/*' });
  }
});

test("account's role for API Gateway logs is set once, before any stage uses it", () => {
  expect(ofType(dev, 'AWS::ApiGateway::Account')).toHaveLength(1);
  const { Resources } = dev.platform.toJSON();
  const [account] = ofType(dev, 'AWS::ApiGateway::Account')[0]!;
  const dependsOn = (id: string): string[] => [Resources[id].DependsOn ?? []].flat();
  for (const [id] of ofType(dev, 'AWS::ApiGateway::Stage')) expect(dependsOn(id), id).toContain(account);
});

test("only stages depend on the account's role: the template stays far below CloudFormation's limit", () => {
  const text = JSON.stringify(prod.platform.toJSON(), null, 1);
  expect(text.length).toBeLessThan(500_000);
  expect(prod.resources.size).toBeLessThan(450);
});

describe('callers of other accounts', () => {
  const role = 'arn:aws:iam::444455556666:role/desk/workflow';
  const trusting = { trustedCallers: ['111122223333', role], trustedOrganization: 'o-abcdefghij' };
  const policyOf = (stage: Synthesized, api: RegExp) =>
    ofType(stage, 'AWS::ApiGateway::RestApi').find(([id]) => api.test(id))![1].Properties.Policy;

  test('APIs have no policy without trusted callers or without IAM signatures', () => {
    const unsigned = synthesize('dev', trusting);
    for (const { api } of SERVICES) {
      expect(policyOf(prod, api)).toBeUndefined();
      expect(policyOf(unsigned, api)).toBeUndefined();
    }
  });

  test('trusted callers may call the signed route, and all callers the other routes', () => {
    const stage = synthesize('prod', trusting);
    expect(policyOf(stage, /^StrategyApi/)).toBeUndefined();
    const statements = policyOf(stage, /^BackendApi/).Statement as any[];
    expect(statements.map(({ Effect, Action }) => [Effect, Action])).toEqual(
      Array(3).fill(['Allow', 'execute-api:Invoke']),
    );
    const [open, callers, organization] = statements;
    const proxy = 'execute-api:/prod/POST/api/v1/data-proxy';
    expect([callers.Resource, organization.Resource]).toEqual([proxy, proxy]);
    const account = { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':iam::111122223333:root']] };
    expect(callers.Principal.AWS).toHaveLength(2);
    expect(callers.Principal.AWS).toEqual(expect.arrayContaining([account, role]));
    expect(organization).toMatchObject({
      Principal: { AWS: '*' },
      Condition: { StringEquals: { 'aws:PrincipalOrgID': 'o-abcdefghij' } },
    });
    expect(open.Principal).toEqual({ AWS: '*' });
    const patterns = (open.Resource as string[]).map(
      (pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`),
    );
    const isOpen = (method: string, path: string) =>
      patterns.some((pattern) => pattern.test(`execute-api:/prod/${method}${path}`));
    for (const { method, path, integration } of operationsOf('backend')) {
      expect(isOpen(method, path.replaceAll(/\{\w+\}/g, 'x')), `${method} ${path}`).toBe(!integration);
    }
    expect(isOpen('GET', '/no/such/path')).toBe(true);
    expect(isOpen('POST', '/api/v1/data-proxy/')).toBe(false);
  });
});

describe('firewall', () => {
  const rulesOf = (stage: Synthesized) =>
    ofType(stage, 'AWS::WAFv2::WebACL').map(([, { Properties }]) => Properties.Rules as any[]);
  const names = (stage: Synthesized) => rulesOf(stage).map((rules) => rules.map(({ Name }) => Name));

  test("firewall protects only production's APIs, with managed rules and no rate limit", () => {
    expect(ofType(dev, 'AWS::WAFv2::WebACLAssociation')).toEqual([]);
    expect(ofType(prod, 'AWS::WAFv2::WebACLAssociation')).toHaveLength(2);
    const managed = ['AWSManagedRulesCommonRuleSet', 'AWSManagedRulesKnownBadInputsRuleSet'];
    expect(names(prod)).toEqual([managed, managed]);
  });

  test('firewall passes bodies and queries with long lists of pairs', () => {
    for (const [common] of rulesOf(prod)) {
      expect(common.Statement.ManagedRuleGroupStatement.RuleActionOverrides).toEqual(
        ['SizeRestrictions_BODY', 'SizeRestrictions_QUERYSTRING'].map((Name) => ({
          Name,
          ActionToUse: { Count: {} },
        })),
      );
    }
  });

  test('firewall limits rates where configured: 100 per minute per token, 20 per address without one', () => {
    const stage = synthesize('prod', { rateLimits: true });
    for (const rules of rulesOf(stage)) {
      expect(rules.map(({ Priority }) => Priority)).toEqual([0, 1, 2, 3]);
      const [withToken, without] = rules.map(({ Statement }) => Statement.RateBasedStatement);
      expect(withToken).toMatchObject({
        Limit: 100,
        EvaluationWindowSec: 60,
        AggregateKeyType: 'CUSTOM_KEYS',
        CustomKeys: [{ Header: { Name: 'authorization' } }],
        ScopeDownStatement: {
          SizeConstraintStatement: {
            FieldToMatch: { SingleHeader: { Name: 'authorization' } },
            ComparisonOperator: 'GT',
            Size: 0,
          },
        },
      });
      expect(without).toMatchObject({ Limit: 20, EvaluationWindowSec: 60, AggregateKeyType: 'IP' });
      expect(without.ScopeDownStatement.NotStatement.Statement).toEqual(withToken.ScopeDownStatement);
      for (const { Action } of rules.slice(0, 2)) {
        expect(Action.Block.CustomResponse).toMatchObject({
          ResponseCode: 429,
          ResponseHeaders: expect.arrayContaining([
            { Name: 'Retry-After', Value: '60' },
            { Name: 'Strict-Transport-Security', Value: 'max-age=31536000' },
            { Name: 'Content-Security-Policy', Value: "default-src 'none'; frame-ancestors 'none'" },
          ]),
        });
      }
    }
    const [[, acl]] = ofType(stage, 'AWS::WAFv2::WebACL') as [ReturnType<typeof ofType>[number]];
    const { Content, ContentType } = acl.Properties.CustomResponseBodies.TooManyRequests;
    expect(ContentType).toBe('APPLICATION_JSON');
    expect(JSON.parse(Content).detail.code).toBe('HTTP429');
  });
});

test("URL of the strategy service is in the backend's environment and in the outputs", () => {
  const backend = ofType(dev, 'AWS::Lambda::Function').find(([id]) => id.startsWith('BackendFunction'))!;
  const url = backend[1].Properties.Environment.Variables.STRATEGY_SERVICE_URL;
  expect(JSON.stringify(url)).toMatch(/StrategyApi.*execute-api.*StrategyApi.*Stage/);
  const outputs = dev.platform.findOutputs('StrategyServiceUrl');
  expect(outputs.StrategyServiceUrl!.Value).toEqual(url);
});
