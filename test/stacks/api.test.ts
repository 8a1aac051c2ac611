import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { describe, expect, test } from 'vitest';
import { operationsOf } from '#contract/operations/operations.ts';
import { ERRORS, type ErrorCode } from '#contract/values/errors.ts';
import { pathsOf as pathsOfOperation } from '#contract/values/operation.ts';
import { stageConfig } from '#lib/settings/config.ts';
import {
  definitionOf,
  gatewayPermissions,
  ownRoutes,
  type Route,
  routesOf,
} from '../support/gateway-routes.ts';
import { ofType, type Resource, type Synthesized, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const dev = templatesOf('dev');
const role = 'arn:aws:iam::444455556666:role/desk/workflow';
const trusting = { trustedCallers: ['111122223333', role], trustedOrganization: 'o-abcdefghij' };
const domain = {
  name: 'touchstone.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0123-4567',
};
/** Stage without required tokens, under a domain whose DNS records are made by hand. */
const openStage = synthesize('dev', { ...trusting, openAccess: true, domain });
const prod = templatesOf('prod');

const SERVICES = [
  { service: 'backend', api: /^BackendApi/, address: 'BackendApiC9FA6A88', alias: 'BackendLive' },
  { service: 'strategy', api: /^StrategyApi/, address: 'StrategyApiD8E4D573', alias: 'StrategyServiceLive' },
] as const;

test.each(SERVICES)('$service API keeps its address: its logical ID never changes', ({ address }) => {
  for (const stage of [dev, prod])
    expect(stage.resources.get(address)!.Type).toBe('AWS::ApiGateway::RestApi');
});

/** All APIs: that of data collection is the dashboard's, and has no name of its own. */
const APIS = [
  ...SERVICES,
  { service: 'data_collection', api: /^DataApi/, address: 'DataApi7B29B8B2', alias: 'DataApiServiceLive' },
] as const;

describe.each(APIS)('routes of the $service', ({ service, api, alias }) => {
  const methods = routesOf(dev, api).filter(({ method }) => method === 'ANY');
  const routed = methods.map(({ path }) => path);
  const definition = definitionOf(dev, api);

  test('API has every path of every operation and no other', () => {
    const served = new Set(operationsOf(service).flatMap(pathsOfOperation));
    for (const path of served) expect(routed, path).toContain(path);
    const isAbove = (path: string) => [...served].some((each) => each.startsWith(`${path}/`));
    const others = routed.filter((path) => !served.has(path) && !isAbove(path));
    expect(others.sort()).toEqual(['/', '/{proxy+}']);
  });

  test("API has far fewer than 300 paths, API Gateway's limit", () => {
    expect(routed.length).toBeLessThan(150);
  });

  test('every path accepts ANY method, so that the service returns its own 404 and 405', () => {
    expect([...routed].sort()).toEqual(Object.keys(definition.paths).sort());
    const above = routed.flatMap((path) => path.split('/').map((_, n, parts) => parts.slice(0, n).join('/')));
    for (const path of above.filter(Boolean)) expect(routed).toContain(path);
    expect(routed).toContain('/{proxy+}');
  });

  test("all methods invoke the service's alias with one permission", () => {
    for (const { integration, security } of methods) {
      expect(integration).toMatchObject({ type: 'aws_proxy', httpMethod: 'POST' });
      const uri = JSON.stringify(integration.uri);
      expect(uri).toContain('lambda:path/2015-03-31/functions/');
      expect(uri).toContain(alias);
      expect(uri).toContain('/invocations');
      expect(security).toEqual([]);
    }
    const [permission, ...others] = gatewayPermissions(dev, alias);
    expect(others).toEqual([]);
    expect(JSON.stringify(permission!.SourceArn)).toContain('/*/*/*');
  });

  test('siblings never use different path variables', () => {
    const byParent = Map.groupBy(
      routed.filter((path) => /\{[^+]+\}$/.test(path)),
      (path) => path.slice(0, path.lastIndexOf('/')),
    );
    for (const [parent, siblings] of byParent) expect(siblings, parent).toHaveLength(1);
  });

  test('API Gateway imports the whole document: OpenAPI 3.0, declared variables, no warnings', () => {
    expect(definition.openapi).toBe('3.0.1');
    for (const [path, item] of Object.entries<Record<string, { parameters?: any[] }>>(definition.paths)) {
      const variables = [...path.matchAll(/\{([^}+]+)\+?\}/g)].map(([, name]) => name);
      for (const [method, { parameters = [] }] of Object.entries(item)) {
        const names = parameters.map(({ name }) => name);
        expect(names, `${method} ${path}`).toEqual(variables);
        for (const each of parameters) expect(each).toMatchObject({ in: 'path', required: true });
      }
    }
    const { Properties } = ofType(dev, 'AWS::ApiGateway::RestApi').find(([id]) => api.test(id))![1];
    expect(Properties).toMatchObject({
      Name: definition.info.title,
      Mode: 'overwrite',
      FailOnWarnings: true,
      MinimumCompressionSize: 1024,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      Parameters: { endpointConfigurationTypes: 'REGIONAL' },
    });
  });
});

test('an API is deployed again when its document changes, and only then', () => {
  const deploymentsOf = (stage: Synthesized) =>
    ofType(stage, 'AWS::ApiGateway::Stage').map(([, { Properties }]) => Properties.DeploymentId.Ref);
  expect(deploymentsOf(synthesize('dev', { logLevel: 'ERROR' }))).toEqual(deploymentsOf(dev));
  const changed = deploymentsOf(openStage);
  // The backend has a route that callers sign unless access is open.
  expect(deploymentsOf(dev).filter((id) => !changed.includes(id))).toEqual([
    expect.stringMatching(/^BackendApiDeployment/),
  ]);
});

describe('route of the data proxy', () => {
  const [{ api }] = SERVICES;

  test('route invokes the alias with a permission for that method only', () => {
    const own = ownRoutes(dev, api);
    expect(own.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/data-proxy',
      'GET /api/v1/events',
    ]);
    expect(own[0]!.integration.type).toBe('aws_proxy');
    expect(JSON.stringify(own[0]!.integration.uri)).toContain('DataProxyServiceLive');
    const [permission, ...others] = gatewayPermissions(dev, 'DataProxyServiceLive');
    expect(others).toEqual([]);
    expect(JSON.stringify(permission!.SourceArn)).toContain('/POST/api/v1/data-proxy');
  });

  test('route requires an IAM signature unless access is open', () => {
    expect(ownRoutes(openStage, api)[0]!.security).toEqual([]);
    const [{ security }] = ownRoutes(prod, api) as [Route];
    expect(security.map((each) => Object.keys(each))).toEqual([[expect.any(String)]]);
    const [name] = Object.keys(security[0]!);
    expect(definitionOf(prod, api).components.securitySchemes[name!]).toEqual({
      type: 'apiKey',
      name: 'Authorization',
      in: 'header',
      'x-amazon-apigateway-authtype': 'awsSigv4',
    });
  });
});

describe.each(APIS)('gateway errors of the $service', ({ api }) => {
  type GatewayResponse = {
    statusCode?: string;
    responseParameters: Record<string, string>;
    responseTemplates: Record<string, string>;
  };
  const responses: Record<string, GatewayResponse> = definitionOf(dev, api)[
    'x-amazon-apigateway-gateway-responses'
  ];

  test('gateway has a response for every response type', () => {
    const types = Object.values(ResponseType)
      .filter((value): value is ResponseType => value instanceof ResponseType)
      .map(({ responseType }) => responseType);
    expect(types.length).toBeGreaterThan(20);
    expect(Object.keys(responses).sort()).toEqual(types.sort());
  });

  test('each gateway response has the correlation header and the coded body', () => {
    for (const [type, { responseParameters, responseTemplates, statusCode }] of Object.entries(responses)) {
      expect(responseParameters['gatewayresponse.header.X-Correlation-ID'], type).toBe('context.requestId');
      expect(responseParameters, type).toMatchObject({
        'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
        'gatewayresponse.header.Strict-Transport-Security': "'max-age=31536000'",
      });
      const { detail } = JSON.parse(responseTemplates['application/json']!);
      expect(Object.keys(detail), type).toEqual(['code', 'message', 'field', 'context']);
      const known = ERRORS[detail.code as ErrorCode];
      if (type.startsWith('DEFAULT_')) expect(statusCode, type).toBeUndefined();
      else expect(statusCode, type).toBe(String(known.status));
    }
  });

  test.each([
    ['MISSING_AUTHENTICATION_TOKEN', '401'],
    ['REQUEST_TOO_LARGE', '413'],
    ['THROTTLED', '429'],
    ['INTEGRATION_FAILURE', '502'],
    ['INTEGRATION_TIMEOUT', '504'],
  ])('gateway error %s is %s', (type, status) => {
    expect(responses[type]!.statusCode).toBe(status);
  });

  test('gateway returns Retry-After when it throttles a client', () => {
    for (const { responseParameters, statusCode } of Object.values(responses)) {
      expect('gatewayresponse.header.Retry-After' in responseParameters).toBe(statusCode === '429');
    }
  });
});

test('every stage logs requests, traces and throttles', () => {
  const apis = ofType(dev, 'AWS::ApiGateway::RestApi');
  const stages = ofType(dev, 'AWS::ApiGateway::Stage');
  expect([apis.length, stages.length]).toEqual([3, 3]);
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

test('access log says who failed a request: the gateway, its firewall, Lambda or the function', () => {
  for (const [id, { Properties }] of ofType(dev, 'AWS::ApiGateway::Stage')) {
    // Variables of https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
    expect(JSON.parse(Properties.AccessLogSetting.Format), id).toMatchObject({
      request_id: '$context.requestId',
      status: '$context.status',
      error: '$context.error.message',
      response_type: '$context.error.responseType',
      integration_status: '$context.integration.status',
      lambda_status: '$context.integrationStatus',
      integration_error: '$context.integrationErrorMessage',
      integration_ms: '$context.integration.latency',
      response_ms: '$context.responseLatency',
      firewall: '$context.wafResponseCode',
    });
  }
});

test("paths of challenges without a prefix have the API's stage, function, errors and limits", () => {
  const bare = operationsOf('strategy').flatMap((operation) => pathsOfOperation(operation).slice(1));
  expect(bare.length).toBeGreaterThanOrEqual(11);
  const routes = routesOf(dev, /^StrategyApi/);
  const methodsOf = (of: string) =>
    routes.filter(({ path }) => path === of).map(({ path: _, ...method }) => method);
  for (const path of bare) {
    expect(methodsOf(path), path).toHaveLength(1);
    expect(methodsOf(path), path).toEqual(methodsOf(`/api/v1${path}`));
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

test("the platform stack stays far below CloudFormation's limits of 1 MB and 500 resources", () => {
  const template = prod.platform.toJSON();
  expect(JSON.stringify(template, null, 1).length).toBeLessThan(730_000);
  expect(Object.keys(template.Resources).length).toBeLessThan(350);
});

describe('callers of other accounts', () => {
  const policyOf = (stage: Synthesized, api: RegExp) =>
    definitionOf(stage, api)['x-amazon-apigateway-policy'];

  test('APIs have no policy without trusted callers or without IAM signatures', () => {
    for (const { api } of SERVICES) {
      expect(policyOf(prod, api)).toBeUndefined();
      expect(policyOf(openStage, api)).toBeUndefined();
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
    expect(ofType(prod, 'AWS::WAFv2::WebACLAssociation')).toHaveLength(3);
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

  test('firewall limits rates where configured: 100 per minute per token, 20 per address or viewer without one', () => {
    const stage = synthesize('prod', { rateLimits: true });
    for (const rules of rulesOf(stage)) {
      expect(rules.map(({ Priority }) => Priority)).toEqual([0, 1, 2, 3, 4]);
      const [withToken, without, viewers] = rules.map(({ Statement }) => Statement.RateBasedStatement);
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
      const [none, direct] = without.ScopeDownStatement.AndStatement.Statements;
      expect(none.NotStatement.Statement).toEqual(withToken.ScopeDownStatement);
      expect(viewers).toMatchObject({
        Limit: 20,
        EvaluationWindowSec: 60,
        AggregateKeyType: 'FORWARDED_IP',
        ForwardedIPConfig: { HeaderName: 'x-viewer-ip', FallbackBehavior: 'MATCH' },
      });
      // By the header of CloudFront only with its token: the one that it sends, and the other during a rotation.
      const [again, fromCloudFront] = viewers.ScopeDownStatement.AndStatement.Statements;
      expect([again, direct.NotStatement.Statement]).toEqual([none, fromCloudFront]);
      const matches = fromCloudFront.OrStatement.Statements.map(
        ({ ByteMatchStatement }: any) => ByteMatchStatement,
      );
      for (const match of matches) {
        expect(match).toMatchObject({
          FieldToMatch: { SingleHeader: { Name: 'x-origin-token' } },
          PositionalConstraint: 'EXACTLY',
        });
      }
      const [, second, first] = matches[0].SearchString['Fn::If'];
      expect(JSON.stringify([first, second])).toMatch(
        /resolve:secretsmanager:.*OriginToken.*resolve:.*OriginToken2/,
      );
      expect(matches[1].SearchString['Fn::If'].slice(1)).toEqual([first, second]);
      for (const { Action } of rules.slice(0, 3)) {
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
    const withoutDashboard = synthesize('prod', {
      rateLimits: true,
      web: { ...stageConfig('prod').web, enabled: false },
    });
    for (const rules of rulesOf(withoutDashboard)) {
      const [, without, , managed] = rules;
      expect(without.Statement.RateBasedStatement.ScopeDownStatement.NotStatement).toBeDefined();
      expect(managed.Statement.RateBasedStatement).toBeUndefined();
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

describe('custom domain', () => {
  const named = synthesize('prod', { domain: { ...domain, hostedZoneId: 'Z0123456789' } });
  const output = (stage: Synthesized, name: string) => stage.platform.findOutputs(name)[name]?.Value;

  test.each(SERVICES)(
    '$service is at its own name, with TLS 1.2 and a DNS record',
    ({ service, address }) => {
      const [[id, { Properties }]] = ofType(named, 'AWS::ApiGateway::DomainName').filter(
        ([, each]) => each.Properties.DomainName === `${service}.touchstone.example.com`,
      ) as [[string, Resource]];
      expect(Properties).toMatchObject({
        SecurityPolicy: 'TLS_1_2',
        EndpointConfiguration: { Types: ['REGIONAL'] },
        RegionalCertificateArn: domain.certificateArn,
      });
      const mappings = ofType(named, 'AWS::ApiGateway::BasePathMapping').map(([, each]) => each.Properties);
      expect(mappings).toContainEqual({
        DomainName: { Ref: id },
        RestApiId: { Ref: address },
        Stage: { Ref: expect.stringMatching(new RegExp(`^${address.slice(0, -8)}DeploymentStage`)) },
      });
      const records = ofType(named, 'AWS::Route53::RecordSet').map(([, each]) => each.Properties);
      expect(records).toContainEqual({
        HostedZoneId: 'Z0123456789',
        Name: `${service}.touchstone.example.com`,
        Type: 'A',
        AliasTarget: {
          DNSName: { 'Fn::GetAtt': [id, 'RegionalDomainName'] },
          HostedZoneId: { 'Fn::GetAtt': [id, 'RegionalHostedZoneId'] },
        },
      });
    },
  );

  test('outputs have the names, the canary calls them, and the backend calls API Gateway', () => {
    expect(output(named, 'BackendUrl')).toBe('https://backend.touchstone.example.com/');
    expect(output(named, 'StrategyServiceUrl')).toBe('https://strategy.touchstone.example.com/');
    const variablesOf = (id: RegExp) =>
      ofType(named, 'AWS::Lambda::Function').find(([name]) => id.test(name))![1].Properties.Environment
        .Variables;
    expect(variablesOf(/Canary/).BACKEND_URL).toBe('https://backend.touchstone.example.com/');
    const strategyUrl = JSON.stringify(variablesOf(/^BackendFunction/).STRATEGY_SERVICE_URL);
    expect(strategyUrl).toContain('execute-api');
    expect(strategyUrl).not.toContain('touchstone.example.com');
  });

  test('without a hosted zone the outputs say which records to create', () => {
    expect(ofType(openStage, 'AWS::Route53::RecordSet')).toEqual([]);
    for (const name of ['BackendDomainTarget', 'StrategyDomainTarget']) {
      expect(JSON.stringify(output(openStage, name)), name).toContain('RegionalDomainName');
    }
  });
});
