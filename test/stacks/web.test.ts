import { runInNewContext } from 'node:vm';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { NO_PAGES } from '#contract/values/page-paths.ts';
import { pageHeaders, SECURITY_HEADERS, TLS_HEADERS } from '#contract/values/security-headers.ts';
import { stageConfig } from '#lib/settings/config.ts';
import {
  actionsOf,
  ofType,
  type Resource,
  type Synthesized,
  statements,
  templatesOf,
} from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const CERTIFICATE = 'arn:aws:acm:us-east-1:111122223333:certificate/0123-4567';
const env = { account: '111122223333', region: 'eu-central-1' };
const web = (changes: object) => stageConfig('dev', { env, web: changes }).web;

const dev = templatesOf('dev');
const named = synthesize('dev', {
  env,
  web: web({
    domain: { name: 'desk.example.com', certificateArn: CERTIFICATE, hostedZoneId: 'Z0123456789' },
    accessLog: true,
    priceClass: 'all',
  }),
});

const only = (stage: Synthesized, type: string, id = /^Web/) => {
  const [[, resource], ...others] = ofType(stage, type).filter(([each]) => id.test(each)) as [
    [string, Resource],
  ];
  expect(others).toEqual([]);
  return resource.Properties;
};
const distributionOf = (stage: Synthesized) =>
  only(stage, 'AWS::CloudFront::Distribution').DistributionConfig;
/** A value of the template with its references replaced by their names. */
const textOf = (value: any): string => {
  if (typeof value === 'string') return value;
  if (value['Fn::Join']) return value['Fn::Join'][1].map(textOf).join('');
  if (value['Fn::GetStackOutput']) return `{${value['Fn::GetStackOutput'].OutputName}}`;
  return `{${value.Ref ?? value['Fn::GetAtt'].join('.')}}`;
};

describe('viewer functions', () => {
  const codeOf = (name: string): string =>
    only(dev, 'AWS::CloudFront::Function', new RegExp(`^Web${name}`)).FunctionCode;
  const call = (name: string, request: object, more: object = {}) => {
    const headers = {};
    const event = {
      version: '1.0',
      context: { requestId: 'EXAMPLE4N5OYH==' },
      viewer: { ip: '198.51.100.11' },
      request: { method: 'GET', querystring: {}, headers, cookies: {}, ...request },
      ...more,
    };
    return JSON.parse(runInNewContext(`${codeOf(name)}; JSON.stringify(handler(${JSON.stringify(event)}))`));
  };
  const html = { accept: { value: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
  const any = { accept: { value: '*/*' } };
  const served = (uri: string, headers: object = html) => call('ServeFiles', { uri, headers });

  test.each([
    '/backtests',
    '/data',
    '/strategies/ema.v2',
    '/strategies/ema_crossover/versions/3',
    '/sign-in',
    '/apis',
  ])('page %s is the entry page', (uri) => {
    expect(served(uri).uri).toBe('/index.html');
  });

  test('root is the entry page for every client', () => {
    for (const headers of [html, any, {}]) expect(served('/', headers).uri).toBe('/index.html');
  });

  test.each([
    ['/assets/index-4f2a.js', any],
    ['/assets/index-4f2a.js', html],
    ['/config.json', html],
    ['/favicon.svg', { accept: { value: 'image/svg+xml,*/*' } }],
    ['/missing.js', {}],
  ])('file %s keeps its path', (uri, headers) => {
    expect(served(uri, headers).uri).toBe(uri);
  });

  test.each([
    '/api/v1/nothing',
    '/services/backend',
    '/services/other/api/v1/health',
    '/docs',
    '/openapi.json',
  ])('path %s outside the services is 404 in their shape', (uri) => {
    const response = served(uri);
    expect(response).toMatchObject({ statusCode: 404, statusDescription: 'Not Found' });
    const { detail } = JSON.parse(response.body.data);
    expect(detail).toEqual({ code: 'HTTP404', message: 'No such path', field: '', context: {} });
    const headers = Object.fromEntries(
      Object.entries<any>(response.headers).map(([name, { value }]) => [name, value]),
    );
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-correlation-id': 'EXAMPLE4N5OYH',
    });
    for (const [name, value] of Object.entries({ ...SECURITY_HEADERS, ...TLS_HEADERS })) {
      expect(headers[name.toLowerCase()], name).toBe(value);
    }
  });

  test('rule for pages is that of the local server', () => {
    for (const segment of NO_PAGES) expect(served(`/${segment}/x`).uri).not.toBe('/index.html');
  });

  test.each([
    ['/services/backend/api/v1/backtests', '/api/v1/backtests'],
    ['/services/data-collection/api/v1/candles', '/api/v1/candles'],
    ['/services/strategy/', '/'],
    ['/services/backend/services/backend/x', '/services/backend/x'],
    ['/services/strategy/api/v1/strategies/a%2Fb', '/api/v1/strategies/a%2Fb'],
  ])('call of %s reaches the service as %s', (uri, path) => {
    expect(call('CallService', { uri }).uri).toBe(path);
  });

  test("service gets the viewer's address in place of any that the viewer claims", () => {
    const claimed = {
      'x-viewer-ip': { value: '10.0.0.1', multiValue: [{ value: '10.0.0.1' }, { value: '10.0.0.2' }] },
    };
    const { headers } = call('CallService', { uri: '/services/backend/', headers: claimed, method: 'POST' });
    expect(headers['x-viewer-ip']).toEqual({ value: '198.51.100.11' });
  });

  /** Nodes of the syntax that CloudFront's JavaScript runtime 2.0 documents. */
  const SYNTAX = new Set([
    'Program',
    'FunctionDeclaration',
    'BlockStatement',
    'VariableDeclaration',
    'VariableDeclarator',
    'Identifier',
    'ReturnStatement',
    'IfStatement',
    'ExpressionStatement',
    'AssignmentExpression',
    'CallExpression',
    'MemberExpression',
    'BinaryExpression',
    'LogicalExpression',
    'ObjectExpression',
    'Property',
    'Literal',
    'ArrayExpression',
    'EmptyStatement',
  ]);

  test.each([
    ['its own ID', {}, 'EXAMPLE4N5OYH'],
    ["the viewer's", { 'x-correlation-id': { value: 'mine-1' } }, 'mine-1'],
    ['its own ID for an invalid one', { 'x-correlation-id': { value: 'a b' } }, 'EXAMPLE4N5OYH'],
  ])('file has %s as correlation ID', (_name, headers, id) => {
    const response = { statusCode: 200, headers: { etag: { value: '"x"' } } };
    expect(call('IdentifyResponse', { uri: '/index.html', headers }, { response })).toEqual({
      statusCode: 200,
      headers: { etag: { value: '"x"' }, 'x-correlation-id': { value: id } },
    });
  });

  test.each(['ServeFiles', 'CallService', 'IdentifyResponse'])(
    '%s is below 10 KB and has only syntax of the runtime',
    (name) => {
      const code = codeOf(name);
      expect(Buffer.byteLength(code)).toBeLessThan(10_000);
      const { program, errors } = parseSync('viewer.js', code);
      expect(errors).toEqual([]);
      const used = new Set<string>();
      const walk = (node: any): void => {
        if (Array.isArray(node)) for (const each of node) walk(each);
        else if (node && typeof node === 'object') {
          if (typeof node.type === 'string') {
            used.add(node.type);
            if (node.type === 'Property') expect(node.shorthand || node.computed).toBe(false);
          }
          for (const value of Object.values(node)) walk(value);
        }
      };
      walk(program);
      expect([...used].filter((type) => !SYNTAX.has(type))).toEqual([]);
      expect(only(dev, 'AWS::CloudFront::Function', new RegExp(`^Web${name}`)).FunctionConfig.Runtime).toBe(
        'cloudfront-js-2.0',
      );
    },
  );
});

describe('distribution', () => {
  const { CacheBehaviors, DefaultCacheBehavior, Origins, ...config } = distributionOf(dev);
  const originOf = ({ TargetOriginId }: any) => Origins.find(({ Id }: any) => Id === TargetOriginId);
  const functionsOf = ({ FunctionAssociations }: any) =>
    FunctionAssociations.map(({ EventType, FunctionARN }: any) => [EventType, FunctionARN['Fn::GetAtt'][0]]);

  test('each service is at its prefix: any method, nothing cached or compressed, every header but Host', () => {
    expect(CacheBehaviors.map(({ PathPattern }: any) => PathPattern)).toEqual([
      '/services/backend/*',
      '/services/strategy/*',
      '/services/data-collection/*',
    ]);
    for (const behavior of CacheBehaviors) {
      expect(behavior).toMatchObject({
        // Managed policies: CachingDisabled and AllViewerExceptHostHeader.
        CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
        OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
        Compress: false,
        ViewerProtocolPolicy: 'https-only',
      });
      expect(behavior.AllowedMethods).toHaveLength(7);
      expect(functionsOf(behavior)).toEqual([['viewer-request', expect.stringMatching(/^WebCallService/)]]);
    }
  });

  test("origins of the services are the stages of their APIs, which may respond later than the gateway's limit", () => {
    const apis = CacheBehaviors.map((behavior: any) => {
      const { DomainName, OriginPath, CustomOriginConfig } = originOf(behavior);
      expect(CustomOriginConfig).toMatchObject({
        OriginProtocolPolicy: 'https-only',
        OriginSSLProtocols: ['TLSv1.2'],
        OriginReadTimeout: 60,
      });
      const [text, path] = [JSON.stringify(DomainName), JSON.stringify(OriginPath)];
      expect(text).toContain('.execute-api.');
      expect(path).toMatch(/DeploymentStagedev/);
      return /"Ref":"(\w+?Api)[0-9A-F]{8}"/.exec(text)![1];
    });
    expect(apis).toEqual(['BackendApi', 'StrategyApi', 'DataApi']);
  });

  test('CloudFront sends the services its token, which no template has, after these accept it', () => {
    const [[, distribution]] = ofType(dev, 'AWS::CloudFront::Distribution') as [[string, Resource]];
    const variablesOf = (id: RegExp) =>
      ofType(dev, 'AWS::Lambda::Function').find(([each]) => id.test(each))![1].Properties.Environment
        .Variables;
    for (const behavior of CacheBehaviors) {
      const [{ HeaderName, HeaderValue }, ...others] = originOf(behavior).OriginCustomHeaders;
      expect([HeaderName, others]).toEqual(['x-origin-token', []]);
      const [condition, second, first] = HeaderValue['Fn::If'];
      for (const token of [first, second])
        expect(JSON.stringify(token)).toContain('{{resolve:secretsmanager:');
      for (const id of [/^BackendFunction/, /^StrategyServiceFunction/, /^DataApiServiceFunction/]) {
        expect(variablesOf(id)).toMatchObject({
          ORIGIN_TOKEN: HeaderValue,
          ORIGIN_TOKEN_2: { 'Fn::If': [condition, first, second] },
        });
      }
    }
    expect(originOf(DefaultCacheBehavior).OriginCustomHeaders).toBeUndefined();
    expect(distribution.DependsOn).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^BackendLive/),
        expect.stringMatching(/^StrategyServiceLive/),
        expect.stringMatching(/^DataCollectionService/),
      ]),
    );
    const [[, upload]] = ofType(dev, 'Custom::DashboardFiles') as [[string, Resource]];
    expect(upload.DependsOn).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^DataApiServiceLive/),
        expect.stringMatching(/^DataCollectionService/),
      ]),
    );
    const protectedBy = ofType(templatesOf('prod'), 'AWS::CloudFront::Distribution')[0]![1].DependsOn;
    expect(protectedBy).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^BackendApiFirewallAcl/),
        expect.stringMatching(/^StrategyApiFirewallAcl/),
      ]),
    );
    for (const name of ['OriginTokenArn1', 'OriginTokenArn2']) {
      expect(dev.platform.toJSON().Outputs).toHaveProperty(name);
    }
  });

  test('no error is cached for other users, and none has a page that replaces it', () => {
    // All that CloudFront may cache: HTTPStatusCodes in its developer guide.
    const cached = [400, 403, 404, 405, 414, 500, 501, 502, 503, 504];
    expect(config.CustomErrorResponses).toEqual(
      cached.map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 })),
    );
  });

  test('pages come from the private bucket, compressed', () => {
    expect(DefaultCacheBehavior).toMatchObject({ Compress: true, ViewerProtocolPolicy: 'redirect-to-https' });
    expect(functionsOf(DefaultCacheBehavior)).toEqual([
      ['viewer-request', expect.stringMatching(/^WebServeFiles/)],
      ['viewer-response', expect.stringMatching(/^WebIdentifyResponse/)],
    ]);
    const origin = originOf(DefaultCacheBehavior);
    expect(origin.DomainName['Fn::GetAtt'][0]).toMatch(/^WebFiles/);
    expect(origin.OriginAccessControlId['Fn::GetAtt'][0]).toMatch(/^WebAccess/);
    expect(only(dev, 'AWS::CloudFront::OriginAccessControl').OriginAccessControlConfig).toMatchObject({
      SigningBehavior: 'always',
      SigningProtocol: 'sigv4',
    });
    const { Statement } = only(dev, 'AWS::S3::BucketPolicy', /^WebFiles/).PolicyDocument;
    const allowed = Statement.filter(({ Effect }: any) => Effect === 'Allow');
    expect(allowed.map(({ Principal }: any) => Principal)).toEqual([{ Service: 'cloudfront.amazonaws.com' }]);
    expect(JSON.stringify(allowed[0].Condition)).toContain('WebDistribution');
  });

  test.each([
    ['WebPageHeaders', DefaultCacheBehavior, { ...pageHeaders(), ...TLS_HEADERS }, true],
    ['WebServiceHeaders', CacheBehaviors[0], { ...SECURITY_HEADERS, ...TLS_HEADERS }, false],
  ])('%s are the headers of the contract', (id, behavior, headers, override) => {
    expect(behavior.ResponseHeadersPolicyId.Ref).toMatch(new RegExp(`^${id}`));
    const policy = only(dev, 'AWS::CloudFront::ResponseHeadersPolicy', new RegExp(`^${id}`));
    const { SecurityHeadersConfig: security, CustomHeadersConfig } = policy.ResponseHeadersPolicyConfig;
    const parts = [...Object.values<any>(security), ...CustomHeadersConfig.Items];
    expect(parts.map(({ Override }) => Override)).toEqual(parts.map(() => override));
    expect({
      'Content-Security-Policy': security.ContentSecurityPolicy.ContentSecurityPolicy,
      'Referrer-Policy': security.ReferrerPolicy.ReferrerPolicy,
      'Strict-Transport-Security': `max-age=${security.StrictTransportSecurity.AccessControlMaxAgeSec}`,
      'X-Content-Type-Options': 'nosniff',
      ...Object.fromEntries(CustomHeadersConfig.Items.map(({ Header, Value }: any) => [Header, Value])),
    }).toEqual(headers);
  });

  test('names of CloudFront differ between the regions of an account', () => {
    const names = [
      ...ofType(dev, 'AWS::CloudFront::ResponseHeadersPolicy').map(
        ([, each]) => each.Properties.ResponseHeadersPolicyConfig.Name,
      ),
      only(dev, 'AWS::CloudFront::OriginAccessControl').OriginAccessControlConfig.Name,
      ...ofType(dev, 'AWS::CloudFront::Function').map(([, each]) => each.Properties.Name),
    ].map(textOf);
    expect(new Set(names).size).toBe(6);
    for (const name of names) expect(name).toContain('{AWS::Region}');
  });

  test('own domain has its certificate, TLS 1.2 and DNS records', () => {
    expect(distributionOf(named)).toMatchObject({
      Aliases: ['desk.example.com'],
      PriceClass: 'PriceClass_All',
      ViewerCertificate: { AcmCertificateArn: CERTIFICATE, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    const records = ofType(named, 'AWS::Route53::RecordSet').map(([, each]) => each.Properties);
    expect(records.map(({ Type, Name }) => `${Type} ${Name}`)).toEqual([
      'A desk.example.com',
      'AAAA desk.example.com',
    ]);
    for (const { AliasTarget } of records) {
      expect(AliasTarget.DNSName['Fn::GetAtt'][1]).toBe('DomainName');
    }
    expect(named.platform.toJSON().Outputs.WebUrl.Value).toBe('https://desk.example.com/');
  });

  test('canary loads the dashboard at its domain once that has records, else at the name of CloudFront', () => {
    const { alarms, canary, trafficShift } = stageConfig('prod');
    const canaryOf = (domain: object) => {
      const stage = synthesize('dev', { env, alarms, canary, trafficShift, web: web({ domain }) });
      const [[, { Properties, DependsOn = [] }]] = ofType(stage, 'AWS::Lambda::Function').filter(([id]) =>
        id.startsWith('CanaryServiceFunction'),
      ) as [[string, Resource]];
      return { url: textOf(Properties.Environment.Variables.WEB_URL), after: DependsOn };
    };
    const domain = { name: 'desk.example.com', certificateArn: CERTIFICATE };
    const own = canaryOf({ ...domain, hostedZoneId: 'Z0123456789' });
    expect(own.url).toBe('https://desk.example.com/');
    expect(own.after.filter((id) => id.startsWith('WebRecord'))).toHaveLength(2);
    expect(canaryOf(domain).url).toMatch(/^https:\/\/\{WebDistribution\w+\.DomainName\}\/$/);
  });

  test('log of CloudFront has a private bucket with the retention of access logs', () => {
    expect(config.Logging).toBeUndefined();
    const log = only(named, 'AWS::S3::Bucket', /^WebAccessLog/);
    expect(distributionOf(named).Logging.Bucket['Fn::GetAtt'][0]).toMatch(/^WebAccessLog/);
    expect(log.OwnershipControls.Rules).toEqual([{ ObjectOwnership: 'BucketOwnerPreferred' }]);
    expect(log.LifecycleConfiguration.Rules).toEqual([{ ExpirationInDays: 90, Status: 'Enabled' }]);
    expect(Object.values(log.PublicAccessBlockConfiguration)).toEqual([true, true, true, true]);
  });
});

test('pages may send signals to the bucket of results, and no other origin may', () => {
  const rulesOf = (stage: Synthesized) => only(stage, 'AWS::S3::Bucket', /^Results/).CorsConfiguration;
  expect(rulesOf(named)).toEqual({
    CorsRules: [
      {
        AllowedOrigins: ['https://desk.example.com'],
        AllowedMethods: ['PUT'],
        AllowedHeaders: ['content-type', 'x-amz-checksum-sha256'],
      },
    ],
  });
  // Without a domain only CloudFront knows the origin.
  expect(rulesOf(dev)).toBeUndefined();
  const others = ofType(named, 'AWS::S3::Bucket').filter(([id]) => !id.startsWith('Results'));
  expect(others.map(([, { Properties }]) => Properties.CorsConfiguration)).toEqual(
    others.map(() => undefined),
  );
});

describe('sign-in', () => {
  const configOf = (stage: Synthesized) => JSON.parse(textOf(only(stage, 'Custom::DashboardFiles').config));
  const clientOf = (stage: Synthesized) => only(stage, 'AWS::Cognito::UserPoolClient', /^IdentityPoolClient/);
  const connectOf = (stage: Synthesized) => {
    const { SecurityHeadersConfig } = only(
      stage,
      'AWS::CloudFront::ResponseHeadersPolicy',
      /^WebPageHeaders/,
    ).ResponseHeadersPolicyConfig;
    return /connect-src ([^;]+);/.exec(
      textOf(SecurityHeadersConfig.ContentSecurityPolicy.ContentSecurityPolicy),
    )![1];
  };

  test('before the address is known there is no sign-in page, and the synthesis says how to get one', () => {
    expect(configOf(dev)).toMatchObject({ stage: 'dev', exchange: 'binanceusdm', auth: null });
    expect(clientOf(dev).CallbackURLs).toBeUndefined();
    expect(connectOf(dev)).toBe("'self'");
    expect(dev.notes).toEqual([
      expect.stringContaining(
        'Set web.domain, or deploy and write the name in the output WebUrl as web.distributionName.',
      ),
    ]);
  });

  test.each([
    ['domain', named, 'https://desk.example.com/sign-in'],
    [
      'name that CloudFront gave',
      synthesize('dev', { env, web: web({ distributionName: 'd111111abcdef8.cloudfront.net' }) }),
      'https://d111111abcdef8.cloudfront.net/sign-in',
    ],
  ])('pool returns to the %s, and the configuration has its endpoints', (_, stage, page) => {
    expect(clientOf(stage)).toMatchObject({
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid'],
      CallbackURLs: [page],
      LogoutURLs: [page],
      EnableTokenRevocation: true,
    });
    const pages = 'https://touchstone-dev-111122223333.auth.eu-central-1.amazoncognito.com';
    const { auth } = configOf(stage);
    expect(auth).toEqual({
      issuer: expect.stringMatching(
        /^https:\/\/cognito-idp\.eu-central-1\.amazonaws\.com\/\{.*IdentityPool.*\}$/,
      ),
      authorize: `${pages}/oauth2/authorize`,
      token: `${pages}/oauth2/token`,
      revoke: `${pages}/oauth2/revoke`,
      logout: `${pages}/logout`,
      client_id: expect.stringContaining('IdentityPoolClient'),
      scopes: ['openid'],
    });
    const [self, ...addresses] = connectOf(stage)!.split(' ');
    expect([self, ...addresses.slice(0, 2)]).toEqual([
      "'self'",
      `${pages}/oauth2/token`,
      `${pages}/oauth2/revoke`,
    ]);
    // The folder of signals in the bucket of results.
    expect(addresses.slice(2)).toEqual([
      expect.stringMatching(/^https:\/\/\{\w+Results\w+RegionalDomainName\w+\}\/signals\/$/),
    ]);
    expect(only(stage, 'AWS::Cognito::UserPoolDomain', /./).Domain).toBe('touchstone-dev-111122223333');
    expect(stage.notes).toEqual([]);
  });

  test('other applications keep their callbacks', () => {
    const hostedUi = { domainPrefix: 'desk', callbackUrls: ['https://other.example.com/back'] };
    const stage = synthesize('dev', {
      identity: { kind: 'own', hostedUi },
      web: web({ distributionName: 'd111111abcdef8.cloudfront.net' }),
    });
    expect(clientOf(stage).CallbackURLs).toEqual([
      'https://other.example.com/back',
      'https://d111111abcdef8.cloudfront.net/sign-in',
    ]);
    expect(configOf(stage).auth.token).toBe('https://desk.auth.{AWS::Region}.amazoncognito.com/oauth2/token');
  });

  test('existing pool has the pages that the stage names', () => {
    const pool = {
      kind: 'existing' as const,
      userPoolId: 'eu-west-1_abc',
      clientId: 'c1',
      region: 'eu-west-1',
    };
    const signInUrl = 'https://desk.auth.eu-west-1.amazoncognito.com';
    expect(configOf(synthesize('dev', { identity: { ...pool, signInUrl } })).auth).toEqual({
      issuer: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc',
      authorize: `${signInUrl}/oauth2/authorize`,
      token: `${signInUrl}/oauth2/token`,
      revoke: `${signInUrl}/oauth2/revoke`,
      logout: `${signInUrl}/logout`,
      client_id: 'c1',
      scopes: ['openid'],
    });
    const without = synthesize('dev', { identity: pool });
    expect(without.notes).toEqual([expect.stringContaining('Set identity.signInUrl')]);
  });
});

describe('upload', () => {
  test('files are uploaded after every function that pages call', () => {
    const [[id, upload]] = ofType(dev, 'Custom::DashboardFiles') as [[string, Resource]];
    expect(upload.DependsOn).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^BackendLive/),
        expect.stringMatching(/^StrategyServiceLive/),
        expect.stringMatching(/^StrategyEventsLive/),
        expect.stringMatching(/^DataApiServiceLive/),
      ]),
    );
    const { ServiceToken, ServiceTimeout, build, bucket } = upload.Properties;
    expect(ServiceToken.Ref, id).toMatch(/^WebUploaderLive/);
    expect(ServiceTimeout).toBe('300');
    // The number of the function's version, which holds the files.
    expect(build['Fn::GetAtt']).toEqual([
      expect.stringMatching(/^WebUploaderFunctionCurrentVersion/),
      'Version',
    ]);
    expect(bucket.Ref).toMatch(/^WebFiles/);
  });

  test("uploader writes to the dashboard's bucket and to nothing else", () => {
    const own = statements(dev).filter(({ id }) => id.startsWith('WebUploader'));
    const objects = own.filter(({ statement }) =>
      actionsOf(statement).some((action) => action.startsWith('s3:')),
    );
    expect(objects.flatMap(({ statement }) => actionsOf(statement)).sort()).toEqual([
      's3:DeleteObject',
      's3:ListBucket',
      's3:PutObject',
    ]);
    for (const { statement } of objects) expect(JSON.stringify(statement.Resource)).toMatch(/WebFiles/);
  });
});

test('stage without a dashboard has neither CloudFront nor the API of data collection', () => {
  const without = synthesize('dev', { web: web({ enabled: false }) });
  const types = [...without.resources.values()].map(({ Type }) => Type);
  expect(types.filter((type) => /CloudFront|DashboardFiles/.test(type))).toEqual([]);
  expect(ofType(without, 'AWS::ApiGateway::RestApi')).toHaveLength(2);
  expect(without.notes).toEqual([]);
});

describe('settings', () => {
  test.each([
    [
      {
        domain: {
          name: 'desk.example.com',
          certificateArn: CERTIFICATE.replace('us-east-1', 'eu-central-1'),
        },
      },
      'stages.dev.web.domain.certificateArn is of another region than us-east-1, from which alone CloudFront reads certificates: request one there, also for a stage in another region',
    ],
    [
      { distributionName: 'dashboard.example.com' },
      'stages.dev.web.distributionName is "dashboard.example.com": write a name such as "d111111abcdef8.cloudfront.net"',
    ],
    [
      {
        distributionName: 'd111111abcdef8.cloudfront.net',
        domain: { name: 'desk.example.com', certificateArn: CERTIFICATE },
      },
      'stages.dev.web.distributionName is not needed with web.domain: remove it',
    ],
    [{ priceClass: '300' }, 'stages.dev.web.priceClass is "300": did you mean "100"?'],
  ])('%j is rejected', (changes, message) => {
    expect(() => web(changes)).toThrow(message);
  });

  test('log is rejected in a region to which CloudFront delivers none', () => {
    const changes = { env: { ...env, region: 'eu-south-1' }, web: { accessLog: true } };
    expect(() => stageConfig('dev', changes)).toThrow(
      'stages.dev.web.accessLog cannot be in eu-south-1, where CloudFront delivers no standard logs: remove it',
    );
  });
});
