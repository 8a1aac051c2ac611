import { CfnOutput, Duration, Size, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as route53 from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';
import { SERVICES } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { acknowledge, logGroup } from '../parts/construct-helpers.ts';
import {
  FIVE_MINUTES,
  type Monitoring,
  p99,
  sum,
  THREE_IN_AN_HOUR,
  type Urgency,
} from '../parts/monitoring.ts';
import type { TokenPair } from '../parts/service-tokens.ts';
import type { StageConfig } from '../settings/config.ts';
import { type ApiTargets, apiDefinition, ownRoutes } from './api-definition.ts';
import { Firewall } from './firewall.ts';

type CustomDomain = StageConfig['domain'] & object;

export interface ServiceApiProps extends ApiTargets {
  readonly monitoring: Monitoring;
  /** The first API of the stack. @default - this is the first */
  readonly after?: ServiceApi;
  /** Firewall to share. @default - an own one, where the stage has firewalls */
  readonly firewall?: Firewall | undefined;
  /** Tokens of CloudFront, for an own firewall. @default - no CloudFront is before the API */
  readonly originTokens?: TokenPair | undefined;
  /** Give it a name under the stage's domain. @default true */
  readonly named?: boolean;
  readonly alarms: {
    /** Prefix of the alarms: `Backend` -> `BackendErrors`, `BackendLatency`. */
    readonly name: string;
    /** p99 latency. @default - the gateway's */
    readonly latency?: cloudwatch.Metric;
    /** Of its errors. Its latency is a ticket. */
    readonly urgency: Urgency;
    /** User impact of each. */
    readonly errors: string;
    readonly slow: string;
  };
}

/**
 * Fields of the access log, with the variables of API Gateway that it writes. A value that a request does not have is `-`. No field has
 * what a client could forge a field with: `resource` is the path of the document, not that of the request.
 */
const ACCESS_LOG = {
  /** Also the correlation ID of a response that the gateway made itself. */
  request_id: '$context.requestId',
  time: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  resource: '$context.resourcePath',
  protocol: '$context.protocol',
  status: '$context.status',
  response_bytes: '$context.responseLength',
  response_ms: '$context.responseLatency',
  /** Both are `-` unless the gateway made the response itself. */
  error: '$context.error.message',
  response_type: '$context.error.responseType',
  /** Of the function's response, and of Lambda, which calls it. */
  integration_status: '$context.integration.status',
  lambda_status: '$context.integrationStatus',
  integration_error: '$context.integrationErrorMessage',
  integration_ms: '$context.integration.latency',
  firewall: '$context.wafResponseCode',
};

/**
 * REST API of a service, imported from an OpenAPI document of the operations table: one resource of the stack instead of a hundred.
 * A REST API, not an HTTP API: only its gateway responses can carry the
 * error body and `X-Correlation-ID` for errors of the gateway itself.
 */
export class ServiceApi extends Construct {
  readonly api: apigateway.SpecRestApi;
  /** Address for clients. Other services of the stage use the API's own, which needs no DNS record of the installer. */
  readonly url: string;
  /** Undefined where the stage has no firewall. */
  readonly firewall: Firewall | undefined;

  constructor(scope: Construct, id: string, props: ServiceApiProps) {
    super(scope, id);
    const { config, service } = props;
    const ownsLogRole = config.apiGatewayLogRole === 'own' && props.after === undefined;
    const name = `${Stack.of(this).stackName}-${SERVICES[service].document}`;
    this.api = new apigateway.SpecRestApi(this, 'Api', {
      restApiName: name,
      description: SERVICES[service].description,
      apiDefinition: apigateway.ApiDefinition.fromInline(apiDefinition(this, name, props)),
      // Routes, gateway responses and a policy that the document no longer has are removed.
      mode: apigateway.RestApiMode.OVERWRITE,
      // A part of the document that API Gateway would ignore fails the deployment.
      failOnWarnings: true,
      endpointConfiguration: { types: [apigateway.EndpointType.REGIONAL] },
      // An import creates an edge-optimized API otherwise.
      parameters: { endpointConfigurationTypes: apigateway.EndpointType.REGIONAL },
      // The account's role for API Gateway's logs: one per region, created by the first API and then kept, also when a creation fails:
      // the account would name a role that is gone, and its other APIs would write no logs.
      cloudWatchRole: ownsLogRole,
      // Compression reduces an equity curve to a fifth.
      minCompressionSize: Size.bytes(1024),
      deployOptions: {
        stageName: config.stage,
        tracingEnabled: true,
        loggingLevel: apigateway.MethodLoggingLevel.ERROR,
        accessLogDestination: new apigateway.LogGroupLogDestination(logGroup(this, 'AccessLog', config)),
        accessLogFormat: apigateway.AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
        // Far above interactive use, far below an account's default of 1,000 concurrent executions.
        throttlingRateLimit: 200,
        throttlingBurstLimit: 400,
      },
    });
    // Depends on the role only: a dependency between the APIs would list every pair of their resources in the template.
    const account = props.after?.api.node.tryFindChild('Account');
    if (account) this.api.deploymentStage.node.addDependency(account);
    this.#allowInvoking(props);
    const { named = true } = props;
    this.url = named && config.domain ? this.#addDomain(service, config.domain) : this.api.url;
    this.firewall = props.firewall ?? this.#firewall(props);
    this.firewall?.protect(this, this.api.deploymentStage);
    this.#acknowledge(config, ownsLogRole);
    this.#addAlarms(props);
  }

  #firewall({ config: { firewall, rateLimits }, originTokens }: ServiceApiProps): Firewall | undefined {
    return firewall ? new Firewall(this, 'Firewall', { rateLimits, originTokens }) : undefined;
  }

  /** One name per service, mapped to the root: paths stay those of the operations table. Returns the address. */
  #addDomain(service: ServiceName, { name, certificateArn, hostedZoneId }: CustomDomain): string {
    const domainName = `${service}.${name}`;
    const domain = this.api.addDomainName('Domain', {
      domainName,
      certificate: acm.Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      endpointType: apigateway.EndpointType.REGIONAL,
      securityPolicy: apigateway.SecurityPolicy.TLS_1_2,
    });
    const { domainNameAliasDomainName: dnsName, domainNameAliasHostedZoneId } = domain;
    if (hostedZoneId) {
      new route53.CfnRecordSet(this, 'Record', {
        hostedZoneId,
        name: domainName,
        type: 'A',
        aliasTarget: { dnsName, hostedZoneId: domainNameAliasHostedZoneId },
      });
    } else {
      const description = `Create a CNAME record for ${domainName} with this value`;
      new CfnOutput(Stack.of(this), `${service.charAt(0).toUpperCase()}${service.slice(1)}DomainTarget`, {
        value: dnsName,
        description,
      });
    }
    return `https://${domainName}/`;
  }

  #addAlarms({ monitoring, alarms }: ServiceApiProps): void {
    const { name, urgency, latency = this.api.metricLatency(p99) } = alarms;
    const average = { statistic: 'Average', period: FIVE_MINUTES };
    const errors = this.api.metricServerError(average);
    monitoring.alarm(this, `${name}Errors`, {
      urgency,
      metric: errors,
      threshold: 0.05,
      ...THREE_IN_AN_HOUR,
      impact: alarms.errors,
    });
    monitoring.alarm(this, `${name}Latency`, {
      urgency: 'ticket',
      metric: latency,
      threshold: Duration.seconds(5).toMilliseconds(),
      ...THREE_IN_AN_HOUR,
      impact: alarms.slow,
    });
    monitoring.graph('apis', `${name}: requests`, [this.api.metricCount(sum)]);
    monitoring.graph('apis', `${name}: errors`, [errors, this.api.metricClientError(average)]);
    monitoring.graph('apis', `${name}: latency, ms`, [latency.with({ statistic: 'p50' }), latency]);
  }

  /**
   * Permissions of API Gateway: one for all methods of the service's function, because one per method would exceed the size limit
   * of its policy, and one per method of other functions.
   */
  #allowInvoking(props: ServiceApiProps): void {
    const principal = new iam.ServicePrincipal('apigateway.amazonaws.com');
    const sourceArn = this.api.arnForExecuteApi();
    props.handler.addPermission('ApiPermission', { scope: this, principal, sourceArn });
    for (const { operation, target } of ownRoutes(props)) {
      const path = operation.path.replaceAll(/\{\w+\}/g, '*');
      target.addPermission(`ApiPermission.${operation.id}`, {
        scope: this,
        principal,
        sourceArn: this.api.arnForExecuteApi(operation.method, path, this.api.deploymentStage.stageName),
      });
    }
  }

  #acknowledge(config: StageConfig, ownsLogRole: boolean): void {
    acknowledge(this.api, {
      'AwsSolutions-APIG2':
        'The handler validates against the operations table and responds in the documented shape.',
      ...(ownsLogRole && {
        'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
          'The policy that API Gateway documents for its one logging role of an account.',
      }),
      ...(!config.firewall && {
        'AwsSolutions-APIG3': 'The firewall is a setting of the stage: on in production.',
      }),
    });
  }
}
