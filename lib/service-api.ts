import { Duration, Size, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { SERVICES } from '#contract/names.ts';
import { type FunctionName, pathsOf, type ServiceName } from '#contract/operation.ts';
import { operationsOf } from '#contract/operations.ts';
import { acknowledge } from './acknowledge.ts';
import { apiPolicy } from './api-policy.ts';
import type { StageConfig } from './config.ts';
import { Firewall } from './firewall.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { logGroup } from './log-group.ts';

export interface ServiceApiProps {
  readonly config: StageConfig;
  readonly service: ServiceName;
  readonly handler: lambda.IAlias;
  /** Functions that answer rows of the table themselves. */
  readonly functions?: Readonly<Partial<Record<FunctionName, lambda.IAlias>>>;
  /** Answers the rows that stream events. @default - the service has none */
  readonly streams?: lambda.IAlias;
  /** An API of the same account, deployed before this one. @default - this is the first */
  readonly after?: ServiceApi;
}

/**
 * A service's REST API, built from the operations table. REST and not HTTP API, because only its gateway responses
 * can carry our body and `X-Correlation-ID` on the errors that the gateway itself makes.
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
      // The account's role for API Gateway's logs: one a region, made by whoever comes first and then kept.
      cloudWatchRole: props.after === undefined,
      // An equity curve is text and shrinks to a fifth.
      minCompressionSize: Size.bytes(1024),
      deployOptions: {
        stageName: config.stage,
        tracingEnabled: true,
        metricsEnabled: true,
        loggingLevel: apigateway.MethodLoggingLevel.ERROR,
        accessLogDestination: new apigateway.LogGroupLogDestination(logGroup(this, 'AccessLog', config)),
        accessLogFormat: apigateway.AccessLogFormat.jsonWithStandardFields(),
        // Far above what people do, far below the 1,000 functions at once that an account has for everything.
        throttlingRateLimit: 200,
        throttlingBurstLimit: 400,
      },
    });
    // On the role alone: what of one API waited for all of the other would be named in the template as often as they multiply.
    if (props.after) this.api.deploymentStage.node.addDependency(props.after.api.node.findChild('Account'));
    this.#addRoutes(props);
    this.#addFunctions(props);
    this.#addStreams(props);
    addGatewayResponses(this.api);
    if (config.firewall)
      new Firewall(this, 'Firewall', { stage: this.api.deploymentStage, rateLimits: config.rateLimits });
    this.#acknowledge(config, props.after === undefined);
  }

  /**
   * Every resource takes ANY method, and the root any path: unknown ones get the service's own 404 and 405.
   * One permission for all methods: a permission each would outgrow the function's policy.
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
   * A function's own method beside ANY. It takes no tokens, so where authentication is enforced its callers sign for IAM.
   * One permission each, for that method alone.
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
   * A stream's own method beside ANY, whose integration passes on what the function writes as it is written. Tokens are
   * verified by the function, as everywhere. One permission each, for that method alone.
   */
  #addStreams({ service, streams }: ServiceApiProps): void {
    for (const { method, path, streams: isStream } of operationsOf(service)) {
      if (!isStream) continue;
      const target = new apigateway.LambdaIntegration(streams!, {
        allowTestInvoke: false,
        responseTransferMode: apigateway.ResponseTransferMode.STREAM,
        // As long as a function runs; without it the gateway would end every stream after 29 s.
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
        'The handler validates against the operations table and answers in the documented shape.',
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
