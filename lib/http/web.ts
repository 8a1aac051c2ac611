import { Annotations, CfnOutput, CustomResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as route53 from 'aws-cdk-lib/aws-route53';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct, type IDependable } from 'constructs';
import type { WebFilesEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { ORIGIN_TOKEN_HEADER } from '#contract/env/origin-token.ts';
import { SERVICE_PREFIXES } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { pageHeaders, SECURITY_HEADERS, TLS_HEADERS } from '#contract/values/security-headers.ts';
import type { WebConfig } from '#contract/values/web-config.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { acknowledge, stackOutputs } from '../parts/construct-helpers.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import { allowObjects } from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { TokenPair } from '../parts/service-tokens.ts';
import type { StageConfig } from '../settings/config.ts';
import { webOrigin } from '../settings/web-settings.ts';
import { CALL_SERVICE, IDENTIFY_RESPONSE, SERVE_FILES } from './viewer-functions.ts';

export interface WebProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  /** Function that uploads the built dashboard, which is in its folder. */
  readonly code: lambda.Code;
  readonly common: EnvInput<typeof WebFilesEnv>;
  readonly apis: Readonly<Record<ServiceName, apigateway.RestApiBase>>;
  readonly signIn: WebConfig['auth'];
  /** Pages send signals to it, by presigned addresses. */
  readonly uploads: s3.IBucket;
  /** CloudFront sends one to the services, which then believe the viewer's address. */
  readonly originTokens: TokenPair;
  /** What pages call, and what receives the token: CloudFront and the pages change after it. */
  readonly after: readonly IDependable[];
}

const PRICE_CLASSES = {
  '100': cloudfront.PriceClass.PRICE_CLASS_100,
  '200': cloudfront.PriceClass.PRICE_CLASS_200,
  all: cloudfront.PriceClass.PRICE_CLASS_ALL,
} as const;

/**
 * Errors that CloudFront would cache for 10 s by their path alone, also without a cache policy and with `no-store`: one user's 404
 * would be the response to all others. No error has a page, which would replace errors of the APIs. Source: HTTPStatusCodes and
 * custom-error-pages-expiration in its developer guide.
 */
const UNCACHED_ERRORS = [400, 403, 404, 405, 414, 500, 501, 502, 503, 504].map((httpStatus) => ({
  httpStatus,
  ttl: Duration.seconds(0),
}));

/** The dashboard: CloudFront in front of its files and of the services' APIs, which thus have one origin. */
export class Web extends Construct {
  /**
   * Address that shows the dashboard once {@link ready} exist. Not that of a domain whose record a user creates: it may come
   * days later.
   */
  readonly url: string;
  readonly ready: readonly IDependable[];

  constructor(scope: Construct, id: string, props: WebProps) {
    super(scope, id);
    const { config } = props;
    const bucket = this.#bucket();
    const distribution = this.#distribution(bucket, props);
    // A rotation changes the sender after the receivers.
    distribution.node.addDependency(...props.after);
    const upload = this.#deploy(bucket, props);
    const { domain } = config.web;
    const ownName = distribution.distributionDomainName;
    stackOutputs(this, 'Address of the dashboard', { WebUrl: `https://${domain?.name ?? ownName}/` });
    const records = domain ? this.#addRecords(domain, ownName) : [];
    this.url = `https://${records.length > 0 ? domain!.name : ownName}/`;
    this.ready = [upload, ...records];
    this.#graph(distribution, props.monitoring);
  }

  /** Only the build's output: the stack that deletes the bucket can fill another. */
  #bucket(): s3.Bucket {
    const bucket = new s3.Bucket(this, 'Files', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(bucket, {
      'AwsSolutions-S1': 'CloudFront is the only reader, of files that are the same for every installation.',
    });
    return bucket;
  }

  #distribution(bucket: s3.Bucket, props: WebProps): cloudfront.Distribution {
    const { config } = props;
    const { domain, priceClass, accessLog } = config.web;
    const services = this.#serviceBehaviors(props);
    const distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: `Touchstone ${config.stage}: dashboard`,
      ...(domain && {
        domainNames: [domain.name],
        certificate: acm.Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      priceClass: PRICE_CLASSES[priceClass],
      defaultRootObject: 'index.html',
      defaultBehavior: this.#pageBehavior(bucket, props),
      additionalBehaviors: services,
      errorResponses: UNCACHED_ERRORS,
      ...(accessLog && { enableLogging: true, logBucket: this.#accessLog(config) }),
    });
    acknowledgeDistribution(distribution, config.web);
    return distribution;
  }

  #headers(id: string, list: Readonly<Record<string, string>>, override: boolean) {
    return new cloudfront.ResponseHeadersPolicy(this, id, {
      responseHeadersPolicyName: globalName(this, id),
      ...headersPolicy(list, override),
    });
  }

  /** Paths of the services, before their APIs. */
  #serviceBehaviors({ apis, originTokens }: WebProps): Record<string, cloudfront.BehaviorOptions> {
    const callService = viewerFunction(this, 'CallService', CALL_SERVICE);
    // The services set these themselves; CloudFront adds them to its own errors.
    const serviceHeaders = this.#headers('ServiceHeaders', { ...SECURITY_HEADERS, ...TLS_HEADERS }, false);
    const behaviors = Object.entries(apis).map(([service, api]): [string, cloudfront.BehaviorOptions] => [
      `${SERVICE_PREFIXES[service as ServiceName]}/*`,
      {
        origin: new origins.RestApiOrigin(api, {
          // Longer than API Gateway's 29 s, and than the 15 s between comments of an event stream.
          readTimeout: Duration.seconds(60),
          customHeaders: { [ORIGIN_TOKEN_HEADER]: originTokens.sent },
        }),
        allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
        cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
        originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        responseHeadersPolicy: serviceHeaders,
        // API Gateway compresses, and event streams must not wait for a full block.
        compress: false,
        viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
        functionAssociations: [callService],
      },
    ]);
    return Object.fromEntries(behaviors);
  }

  /** All other paths: the dashboard's files. */
  #pageBehavior(bucket: s3.Bucket, { config, signIn, uploads }: WebProps): cloudfront.BehaviorOptions {
    return {
      origin: origins.S3BucketOrigin.withOriginAccessControl(bucket, {
        originAccessControl: new cloudfront.S3OriginAccessControl(this, 'Access', {
          originAccessControlName: globalName(this, 'Files'),
        }),
        // With LIST a missing file is 404; without, S3 says 403.
        originAccessLevels: [cloudfront.AccessLevel.READ, cloudfront.AccessLevel.LIST],
      }),
      cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
      compress: true,
      responseHeadersPolicy: this.#headers(
        'PageHeaders',
        {
          ...pageHeaders([
            ...(signIn ? [signIn.token, signIn.revoke] : []),
            // The bucket accepts only an origin that is known.
            ...(webOrigin(config) ? [`https://${uploads.bucketRegionalDomainName}/signals/`] : []),
          ]),
          ...TLS_HEADERS,
        },
        true,
      ),
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: [
        viewerFunction(this, 'ServeFiles', SERVE_FILES),
        viewerFunction(this, 'IdentifyResponse', IDENTIFY_RESPONSE, 'VIEWER_RESPONSE'),
      ],
    };
  }

  /** CloudFront writes its standard log as the bucket's owner by an access control list. */
  #accessLog({ retention }: StageConfig): s3.Bucket {
    const bucket = new s3.Bucket(this, 'AccessLog', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_PREFERRED,
      lifecycleRules:
        retention.accessLog === null ? [] : [{ expiration: Duration.days(retention.accessLog) }],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(bucket, { 'AwsSolutions-S1': 'It is the log of requests itself.' });
    return bucket;
  }

  /**
   * Uploads the files when they or the configuration change: src/adapters/aws/web-files.ts has the order. The alias stays the same
   * and names the function of the earlier files again when a deployment is rolled back.
   */
  #deploy(bucket: s3.Bucket, { config, monitoring, code, common, signIn, after }: WebProps): IDependable {
    const uploader = new ServiceFunction(this, 'Uploader', {
      name: 'WebFiles',
      config,
      monitoring,
      description: `Touchstone ${config.stage}: uploads the dashboard's files`,
      code,
      environment: common,
      timeout: Duration.minutes(2),
      memorySize: 512,
      faultImpact: 'A deployment cannot upload the dashboard: users keep the earlier one.',
      slowAlarm: false,
    });
    allowObjects(uploader.function.role!, bucket, ['PutObject', 'DeleteObject']);
    const web: WebConfig = {
      stage: config.stage,
      version: packageJson.version,
      exchange: config.defaultExchange,
      auth: signIn,
    };
    const upload = new CustomResource(this, 'Upload', {
      resourceType: 'Custom::DashboardFiles',
      serviceToken: uploader.alias.functionArn,
      // By default CloudFormation waits for an hour for a function that ended without a report.
      serviceTimeout: Duration.minutes(5),
      properties: {
        bucket: bucket.bucketName,
        // Changes with the files, which are part of the function.
        build: uploader.function.currentVersion.version,
        config: Stack.of(this).toJsonString(web),
      },
    });
    // The pages of a build may call what only these versions serve.
    upload.node.addDependency(...after);
    return upload;
  }

  /** Records of the domain; none without a zone: an output says which one the user creates. */
  #addRecords(
    { name, hostedZoneId }: StageConfig['web']['domain'] & object,
    distributionName: string,
  ): IDependable[] {
    if (!hostedZoneId) {
      new CfnOutput(Stack.of(this), 'WebDomainTarget', {
        value: distributionName,
        description: `Create a CNAME record for ${name} with this value`,
      });
      return [];
    }
    return ['A', 'AAAA'].map(
      (type) =>
        new route53.CfnRecordSet(this, `Record${type}`, {
          hostedZoneId,
          name,
          type,
          // The one zone of all distributions.
          aliasTarget: { dnsName: distributionName, hostedZoneId: 'Z2FDTNDATAQYW2' },
        }),
    );
  }

  /** CloudFront has its metrics in us-east-1 only, where an alarm of another region cannot read them. */
  #graph(distribution: cloudfront.Distribution, monitoring: Monitoring): void {
    monitoring.graph('apis', 'Dashboard: requests', [distribution.metricRequests()]);
    monitoring.graph('apis', 'Dashboard: errors, %', [
      distribution.metric5xxErrorRate(),
      distribution.metric4xxErrorRate(),
    ]);
  }
}

/** Names of CloudFront are those of an account, not of a region. */
function globalName(scope: Construct, name: string): string {
  const { stackName, region } = Stack.of(scope);
  return `${stackName}-${name}-${region}`;
}

function viewerFunction(
  scope: Construct,
  id: string,
  code: string,
  event: keyof typeof cloudfront.FunctionEventType = 'VIEWER_REQUEST',
): cloudfront.FunctionAssociation {
  const viewer = new cloudfront.Function(scope, id, {
    code: cloudfront.FunctionCode.fromInline(code),
    runtime: cloudfront.FunctionRuntime.JS_2_0,
  });
  return { function: viewer, eventType: cloudfront.FunctionEventType[event] };
}

/** CloudFront takes some headers by name only in fields of their own. */
function headersPolicy(
  headers: Readonly<Record<string, string>>,
  override: boolean,
): cloudfront.ResponseHeadersPolicyProps {
  const {
    'Content-Security-Policy': contentSecurityPolicy,
    'Referrer-Policy': referrerPolicy,
    'X-Content-Type-Options': contentTypeOptions,
    'Strict-Transport-Security': transport,
    ...others
  } = headers;
  const [, maxAge] = /^max-age=(\d+)$/.exec(transport ?? '') ?? [];
  if (!contentSecurityPolicy || !referrerPolicy || contentTypeOptions !== 'nosniff' || !maxAge) {
    throw new Error('The security headers have changed: lib/http/web.ts must pass each to CloudFront');
  }
  return {
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy, override },
      referrerPolicy: { referrerPolicy: referrerPolicy as cloudfront.HeadersReferrerPolicy, override },
      contentTypeOptions: { override },
      strictTransportSecurity: { accessControlMaxAge: Duration.seconds(Number(maxAge)), override },
    },
    customHeadersBehavior: {
      customHeaders: Object.entries(others).map(([header, value]) => ({ header, value, override })),
    },
  };
}

function acknowledgeDistribution(
  distribution: cloudfront.Distribution,
  { domain, accessLog }: StageConfig['web'],
): void {
  Annotations.of(distribution).acknowledgeWarning(
    '@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk',
    'The path that would list the bucket is the entry page, by the function and by the root object.',
  );
  acknowledge(distribution, {
    'AwsSolutions-CFR1': 'Users may be anywhere: tokens, not countries, decide who may call.',
    'AwsSolutions-CFR2':
      'The firewall is in front of the APIs, so that it also checks calls past CloudFront. The files are public.',
    ...(!accessLog && {
      'AwsSolutions-CFR3': 'The log of CloudFront is a setting; the APIs log every request.',
    }),
    ...(!domain && {
      'AwsSolutions-CFR4':
        "CloudFront's own name has a certificate of CloudFront, whose oldest TLS version cannot be set. A domain is a setting of the stage.",
    }),
  });
}
