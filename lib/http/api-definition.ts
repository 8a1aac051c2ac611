import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { operationsOf } from '#contract/operations/operations.ts';
import { ERRORS, type ErrorCode } from '#contract/values/errors.ts';
import { CORRELATION_HEADER, SERVICES } from '#contract/values/names.ts';
import { type FunctionName, type Operation, pathsOf, type ServiceName } from '#contract/values/operation.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/values/security-headers.ts';
import type { StageConfig } from '../settings/config.ts';

/** Functions that API Gateway invokes for the operations of a service. */
export interface ApiTargets {
  readonly config: StageConfig;
  readonly service: ServiceName;
  /** Function of all methods and paths that have no other. */
  readonly handler: lambda.IAlias;
  /** Functions that API Gateway calls directly for some operations. */
  readonly functions?: Readonly<Partial<Record<FunctionName, lambda.IAlias>>>;
  /** Function of the operations that stream events. @default - the service has none */
  readonly streams?: lambda.IAlias;
}

/** Method that API Gateway routes to another function than the service's. */
export interface OwnRoute {
  readonly operation: Operation;
  readonly target: lambda.IAlias;
}

/** Methods that API Gateway routes to other functions: direct calls and event streams. */
export function ownRoutes({ service, functions = {}, streams }: ApiTargets): OwnRoute[] {
  return operationsOf(service).flatMap((operation) => {
    const { integration, streams: isStream } = operation;
    if (integration) return [{ operation, target: functions[integration.function]! }];
    return isStream ? [{ operation, target: streams! }] : [];
  });
}

/** Name of the security scheme of IAM signatures. */
const SIGNED = 'sigv4';

const SIGNATURES = {
  securitySchemes: {
    [SIGNED]: {
      type: 'apiKey',
      name: 'Authorization',
      in: 'header',
      'x-amazon-apigateway-authtype': 'awsSigv4',
    },
  },
};

/**
 * OpenAPI 3.0.1 document with API Gateway's extensions, from the operations table. API Gateway does not import 3.1, which
 * docs/openapi has. The document has the routes only: the service validates requests and has its own document.
 *
 * - ANY method of each path, of each path above, and of any other path is the service's, which returns its own 404 and 405.
 * - Methods of other functions are in addition to ANY. Direct calls accept no tokens: where authentication is enforced, callers
 *   sign for IAM. Streams forward each write of the function, which verifies tokens.
 */
export function apiDefinition(scope: Construct, title: string, targets: ApiTargets) {
  const { config, service, handler } = targets;
  const integrate = integration(Stack.of(scope));
  const any = { responses: {}, 'x-amazon-apigateway-integration': integrate(handler) };
  const paths = Object.fromEntries(
    allPaths(service).map((path): [string, Record<string, unknown>] => [
      path,
      { 'x-amazon-apigateway-any-method': { ...pathParameters(path), ...any } },
    ]),
  );
  const own = ownRoutes(targets);
  for (const { operation, target } of own) {
    const { method, path, streams: isStream, integration: isDirect } = operation;
    paths[path]![method.toLowerCase()] = {
      ...pathParameters(path),
      responses: {},
      ...(isDirect && !config.openAccess && { security: [{ [SIGNED]: [] }] }),
      'x-amazon-apigateway-integration': integrate(target, isStream),
    };
  }
  const policy = apiPolicy(config, service);
  return {
    openapi: '3.0.1',
    // A fixed version: the document changes, and the API is deployed again, only when a route or setting changes.
    info: { title, description: SERVICES[service].description, version: 'v1' },
    paths,
    ...(!config.openAccess &&
      own.some(({ operation }) => operation.integration) && { components: SIGNATURES }),
    'x-amazon-apigateway-gateway-responses': gatewayResponses(),
    // Only here and not in the stack's resource: an import without a policy removes the API's.
    ...(policy && { 'x-amazon-apigateway-policy': policy.toJSON() }),
  };
}

/** Paths of all operations, the paths above them, and `{proxy+}` for any other, in order. */
function allPaths(service: ServiceName): string[] {
  const above = (path: string): string[] =>
    path === '' ? [] : [path, ...above(path.slice(0, path.lastIndexOf('/')))];
  const served = operationsOf(service).flatMap(pathsOf).flatMap(above);
  return [...new Set(['/', ...served, '/{proxy+}'])].sort();
}

/** Declarations of a path's variables. In each method, as in API Gateway's own examples and exports: ANY is none of OpenAPI's methods. */
function pathParameters(path: string) {
  const parameters = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return parameters.length > 0 && { parameters };
}

/** Integrations of functions, as API Gateway addresses them in a stack's region. */
function integration({ partition, region }: Stack) {
  const uri = (version: string, target: lambda.IAlias, action: string) =>
    `arn:${partition}:apigateway:${region}:lambda:path/${version}/functions/${target.functionArn}/${action}`;
  return (target: lambda.IAlias, isStream = false) => ({
    type: 'aws_proxy',
    httpMethod: 'POST',
    ...(isStream
      ? {
          uri: uri('2021-11-15', target, 'response-streaming-invocations'),
          responseTransferMode: 'STREAM',
          // 15 minutes, the maximum of a function; by default the gateway ends every stream after 29 s.
          timeoutInMillis: 900_000,
        }
      : { uri: uri('2015-03-31', target, 'invocations') }),
  });
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Resource policy of a service's API, in stages that trust other accounts with the IAM-signed routes. Undefined without trusted
 * callers.
 * - A caller of another account needs this policy and a permission of its own role. A caller of this account needs either.
 * - A resource policy denies routes that it does not list, so it lists all other routes too.
 * - Unknown paths of the signed routes' methods then return 403 instead of 404.
 */
function apiPolicy(config: StageConfig, service: ServiceName): iam.PolicyDocument | undefined {
  const { openAccess, stage, trustedCallers, trustedOrganization } = config;
  const operations = operationsOf(service);
  const signed = operations.filter(({ integration }) => integration);
  if (openAccess || signed.length === 0 || (trustedCallers.length === 0 && !trustedOrganization)) {
    return undefined;
  }
  const route = (method: string, path: string) => `execute-api:/${stage}/${method}${path}`;
  const routeOf = ({ method, path }: Operation) => route(method, path.replaceAll(/\{\w+\}/g, '*'));
  const signedMethods = new Set<string>(signed.map(({ method }) => method));
  const open = [
    ...METHODS.filter((method) => !signedMethods.has(method)).map((method) => route(method, '/*')),
    ...operations.filter((each) => !each.integration && signedMethods.has(each.method)).map(routeOf),
  ];
  const allow = (principals: iam.IPrincipal[], resources: string[]) =>
    new iam.PolicyStatement({ actions: ['execute-api:Invoke'], principals, resources });
  const callers = trustedCallers.map((caller) =>
    caller.startsWith('arn:') ? new iam.ArnPrincipal(caller) : new iam.AccountPrincipal(caller),
  );
  return new iam.PolicyDocument({
    statements: [
      allow([new iam.AnyPrincipal()], open),
      ...(callers.length > 0 ? [allow(callers, signed.map(routeOf))] : []),
      ...(trustedOrganization
        ? [allow([new iam.OrganizationPrincipal(trustedOrganization)], signed.map(routeOf))]
        : []),
    ],
  });
}

interface GatewayError {
  /** Response type of API Gateway. */
  readonly type: string;
  readonly code: ErrorCode;
  /** Default: the message of the code. */
  readonly message?: string;
  /** Default: the status of the code. `keep`: the gateway's, because setting one would change a whole class of responses. */
  readonly status?: number | 'keep';
}

/** All error responses of API Gateway itself. The service authenticates callers, so most of these mean a wrong configuration. */
const GATEWAY_ERRORS: readonly GatewayError[] = [
  {
    // Includes 414 and 431, which have no type of their own.
    type: 'DEFAULT_4XX',
    code: 'HTTP400',
    message: 'The request could not be read: its address or headers are malformed or too large',
    status: 'keep',
  },
  { type: 'DEFAULT_5XX', code: 'SVC001', status: 'keep' },
  { type: 'BAD_REQUEST_BODY', code: 'VAL006', message: 'The body could not be read' },
  {
    type: 'BAD_REQUEST_PARAMETERS',
    code: 'VAL005',
    message: 'A parameter could not be read',
  },
  // Every path has a method, so this error means a missing signature for a function's method.
  { type: 'MISSING_AUTHENTICATION_TOKEN', code: 'AUTH003' },
  { type: 'RESOURCE_NOT_FOUND', code: 'HTTP404' },
  { type: 'REQUEST_TOO_LARGE', code: 'HTTP413' },
  { type: 'UNSUPPORTED_MEDIA_TYPE', code: 'HTTP415' },
  { type: 'THROTTLED', code: 'HTTP429' },
  { type: 'QUOTA_EXCEEDED', code: 'HTTP429' },
  { type: 'UNAUTHORIZED', code: 'AUTH003' },
  { type: 'EXPIRED_TOKEN', code: 'AUTH001' },
  { type: 'INVALID_SIGNATURE', code: 'AUTH002' },
  { type: 'ACCESS_DENIED', code: 'AUTH004' },
  { type: 'INVALID_API_KEY', code: 'AUTH004' },
  {
    type: 'WAF_FILTERED',
    code: 'AUTH004',
    message: 'The firewall rejected the request',
  },
  { type: 'API_CONFIGURATION_ERROR', code: 'SVC001' },
  { type: 'AUTHORIZER_CONFIGURATION_ERROR', code: 'SVC001' },
  { type: 'AUTHORIZER_FAILURE', code: 'SVC001' },
  { type: 'INTEGRATION_FAILURE', code: 'SVC002' },
  { type: 'INTEGRATION_TIMEOUT', code: 'SVC006' },
];

/** Fixed values in single quotes, as the gateway requires; headers that contain single quotes, such as a policy, are left out. */
const FIXED_HEADERS = Object.fromEntries(
  Object.entries({ ...SECURITY_HEADERS, ...TLS_HEADERS })
    .filter(([, value]) => !value.includes("'"))
    .map(([name, value]) => [name, `'${value}'`]),
);

/** Gives every error of the gateway the error body and headers of all other responses. */
function gatewayResponses() {
  return Object.fromEntries(
    GATEWAY_ERRORS.map(({ type, code, message, status = ERRORS[code].status }) => {
      const detail = { code, message: message ?? ERRORS[code].message, field: '', context: {} };
      const headers = {
        ...FIXED_HEADERS,
        [CORRELATION_HEADER]: 'context.requestId',
        ...(code === 'HTTP429' && { 'Retry-After': "'1'" }),
      };
      const response = {
        ...(status !== 'keep' && { statusCode: String(status) }),
        responseParameters: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]),
        ),
        responseTemplates: { 'application/json': JSON.stringify({ detail }) },
      };
      return [type, response];
    }),
  );
}
