import { Duration, Size, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { ERRORS, type ErrorCode } from '#contract/errors.ts';
import { CORRELATION_HEADER, SERVICES } from '#contract/names.ts';
import { type FunctionName, type Operation, pathsOf, type ServiceName } from '#contract/operation.ts';
import { operationsOf } from '#contract/operations.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/security-headers.ts';
import type { StageConfig } from './config.ts';
import { acknowledge, logGroup } from './construct-helpers.ts';
import { Firewall } from './firewall.ts';
import { FIVE_MINUTES, type Monitoring, p99, sum } from './monitoring.ts';

export interface ServiceApiProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly service: ServiceName;
  readonly handler: lambda.IAlias;
  /** Functions that API Gateway calls directly for some operations. */
  readonly functions?: Readonly<Partial<Record<FunctionName, lambda.IAlias>>>;
  /** Function of the operations that stream events. @default - the service has none */
  readonly streams?: lambda.IAlias;
  /** An API of the same account, deployed before this one. @default - this is the first */
  readonly after?: ServiceApi;
  readonly alarms: {
    /** Prefix of the alarms: `Backend` -> `BackendErrors`, `BackendLatency`. */
    readonly name: string;
    /** p99 latency. @default - the gateway's */
    readonly latency?: cloudwatch.Metric;
    /** User impact of each. */
    readonly errors: string;
    readonly slow: string;
  };
}

/**
 * REST API of a service, built from the operations table. A REST API, not an HTTP API: only its gateway responses can carry the
 * error body and `X-Correlation-ID` for errors of the gateway itself.
 */
export class ServiceApi extends Construct {
  readonly api: apigateway.RestApi;

  constructor(scope: Construct, id: string, props: ServiceApiProps) {
    super(scope, id);
    const { config, service } = props;
    this.api = new apigateway.RestApi(this, 'Api', {
      restApiName: `${Stack.of(this).stackName}-${service}`,
      description: SERVICES[service].description,
      policy: apiPolicy(config, service),
      endpointConfiguration: { types: [apigateway.EndpointType.REGIONAL] },
      // The account's role for API Gateway's logs: one per region, created by the first API and then kept.
      cloudWatchRole: props.after === undefined,
      // Compression reduces an equity curve to a fifth.
      minCompressionSize: Size.bytes(1024),
      deployOptions: {
        stageName: config.stage,
        tracingEnabled: true,
        metricsEnabled: true,
        loggingLevel: apigateway.MethodLoggingLevel.ERROR,
        accessLogDestination: new apigateway.LogGroupLogDestination(logGroup(this, 'AccessLog', config)),
        accessLogFormat: apigateway.AccessLogFormat.jsonWithStandardFields(),
        // Far above interactive use, far below an account's default of 1,000 concurrent executions.
        throttlingRateLimit: 200,
        throttlingBurstLimit: 400,
      },
    });
    // Depends on the role only: a dependency between the APIs would list every pair of their resources in the template.
    if (props.after) this.api.deploymentStage.node.addDependency(props.after.api.node.findChild('Account'));
    this.#addRoutes(props);
    this.#addFunctions(props);
    this.#addStreams(props);
    addGatewayResponses(this.api);
    if (config.firewall)
      new Firewall(this, 'Firewall', { stage: this.api.deploymentStage, rateLimits: config.rateLimits });
    this.#acknowledge(config, props.after === undefined);
    this.#addAlarms(props);
  }

  #addAlarms({ monitoring, alarms }: ServiceApiProps): void {
    const { name, latency = this.api.metricLatency(p99) } = alarms;
    const average = { statistic: 'Average', period: FIVE_MINUTES };
    const errors = this.api.metricServerError(average);
    monitoring.alarm(this, `${name}Errors`, {
      metric: errors,
      threshold: 0.05,
      periods: 3,
      impact: alarms.errors,
    });
    monitoring.alarm(this, `${name}Latency`, {
      metric: latency,
      threshold: Duration.seconds(5).toMilliseconds(),
      periods: 3,
      impact: alarms.slow,
    });
    monitoring.graph('apis', `${name}: requests`, [this.api.metricCount(sum)]);
    monitoring.graph('apis', `${name}: errors`, [errors, this.api.metricClientError(average)]);
    monitoring.graph('apis', `${name}: latency, ms`, [latency.with({ statistic: 'p50' }), latency]);
  }

  /**
   * Routes ANY method of each resource, and any other path, to the service, which returns its own 404 and 405. One permission
   * for all methods: one per method would exceed the size limit of the function's policy.
   */
  #addRoutes({ service, handler }: ServiceApiProps): void {
    const integration = new apigateway.LambdaIntegration(handler, { scopePermissionToMethod: false });
    const withMethod = new Set<apigateway.IResource>();
    const addAny = (resource: apigateway.IResource) => {
      if (withMethod.has(resource)) return;
      withMethod.add(resource);
      resource.addMethod('ANY', integration);
      if (resource.parentResource) addAny(resource.parentResource);
    };
    for (const path of operationsOf(service).flatMap(pathsOf)) addAny(this.api.root.resourceForPath(path));
    addAny(this.api.root.addResource('{proxy+}'));
  }

  /**
   * Adds methods that API Gateway routes to a function directly, in addition to ANY. They accept no tokens: where
   * authentication is enforced, callers sign for IAM. One permission per method.
   */
  #addFunctions({ config, service, functions = {} }: ServiceApiProps): void {
    const { IAM, NONE } = apigateway.AuthorizationType;
    for (const { method, path, integration } of operationsOf(service)) {
      if (!integration) continue;
      const target = new apigateway.LambdaIntegration(functions[integration.function]!, {
        allowTestInvoke: false,
      });
      const authorizationType = config.authRequired ? IAM : NONE;
      this.api.root.resourceForPath(path).addMethod(method, target, { authorizationType });
    }
  }

  /**
   * Adds methods that stream, in addition to ANY: their integration forwards each write of the function. The function verifies
   * tokens, as for any method. One permission per method.
   */
  #addStreams({ service, streams }: ServiceApiProps): void {
    for (const { method, path, streams: isStream } of operationsOf(service)) {
      if (!isStream) continue;
      const target = new apigateway.LambdaIntegration(streams!, {
        allowTestInvoke: false,
        responseTransferMode: apigateway.ResponseTransferMode.STREAM,
        // The maximum of a function; by default the gateway ends every stream after 29 s.
        timeout: Duration.minutes(15),
      });
      this.api.root.resourceForPath(path).addMethod(method, target);
    }
  }

  #acknowledge(config: StageConfig, first: boolean): void {
    const handled =
      'Tokens are verified by the handler: optional outside production, with error codes that an authorizer cannot give.';
    acknowledge(this.api, {
      'AwsSolutions-APIG2':
        'The handler validates against the operations table and responds in the documented shape.',
      'AwsSolutions-APIG4': handled,
      'AwsSolutions-COG4': handled,
      ...(first && {
        'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
          'The policy that API Gateway documents for its one logging role of an account.',
      }),
      ...(!config.firewall && {
        'AwsSolutions-APIG3': 'The firewall is a setting of the stage: on in production.',
      }),
    });
  }
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
  const { authRequired, stage, trustedCallers, trustedOrganization } = config;
  const operations = operationsOf(service);
  const signed = operations.filter(({ integration }) => integration);
  if (!authRequired || signed.length === 0 || (trustedCallers.length === 0 && !trustedOrganization)) {
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
  readonly type: apigateway.ResponseType;
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
    type: apigateway.ResponseType.DEFAULT_4XX,
    code: 'HTTP400',
    message: 'The request could not be read: its address or headers are malformed or too large',
    status: 'keep',
  },
  { type: apigateway.ResponseType.DEFAULT_5XX, code: 'SVC001', status: 'keep' },
  { type: apigateway.ResponseType.BAD_REQUEST_BODY, code: 'VAL006', message: 'The body could not be read' },
  {
    type: apigateway.ResponseType.BAD_REQUEST_PARAMETERS,
    code: 'VAL005',
    message: 'A parameter could not be read',
  },
  // Every path has a method, so this error means a missing signature for a function's method.
  { type: apigateway.ResponseType.MISSING_AUTHENTICATION_TOKEN, code: 'AUTH003' },
  { type: apigateway.ResponseType.RESOURCE_NOT_FOUND, code: 'HTTP404' },
  { type: apigateway.ResponseType.REQUEST_TOO_LARGE, code: 'HTTP413' },
  { type: apigateway.ResponseType.UNSUPPORTED_MEDIA_TYPE, code: 'HTTP415' },
  { type: apigateway.ResponseType.THROTTLED, code: 'HTTP429' },
  { type: apigateway.ResponseType.QUOTA_EXCEEDED, code: 'HTTP429' },
  { type: apigateway.ResponseType.UNAUTHORIZED, code: 'AUTH003' },
  { type: apigateway.ResponseType.EXPIRED_TOKEN, code: 'AUTH001' },
  { type: apigateway.ResponseType.INVALID_SIGNATURE, code: 'AUTH002' },
  { type: apigateway.ResponseType.ACCESS_DENIED, code: 'AUTH004' },
  { type: apigateway.ResponseType.INVALID_API_KEY, code: 'AUTH004' },
  {
    type: apigateway.ResponseType.WAF_FILTERED,
    code: 'AUTH004',
    message: 'The firewall rejected the request',
  },
  { type: apigateway.ResponseType.API_CONFIGURATION_ERROR, code: 'SVC001' },
  { type: apigateway.ResponseType.AUTHORIZER_CONFIGURATION_ERROR, code: 'SVC001' },
  { type: apigateway.ResponseType.AUTHORIZER_FAILURE, code: 'SVC001' },
  { type: apigateway.ResponseType.INTEGRATION_FAILURE, code: 'SVC002' },
  { type: apigateway.ResponseType.INTEGRATION_TIMEOUT, code: 'SVC006' },
];

/** Fixed values in single quotes, as the gateway requires; headers that contain single quotes, such as a policy, are left out. */
const FIXED_HEADERS = Object.fromEntries(
  Object.entries({ ...SECURITY_HEADERS, ...TLS_HEADERS })
    .filter(([, value]) => !value.includes("'"))
    .map(([name, value]) => [name, `'${value}'`]),
);

/** Gives every error of the gateway the error body and headers of all other responses. */
function addGatewayResponses(api: apigateway.RestApi): void {
  for (const { type, code, message, status = ERRORS[code].status } of GATEWAY_ERRORS) {
    const detail = { code, message: message ?? ERRORS[code].message, field: '', context: {} };
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: status === 'keep' ? undefined : String(status),
      responseHeaders: {
        ...FIXED_HEADERS,
        [CORRELATION_HEADER]: 'context.requestId',
        ...(code === 'HTTP429' && { 'Retry-After': "'1'" }),
      },
      templates: { 'application/json': JSON.stringify({ detail }) },
    });
  }
}
