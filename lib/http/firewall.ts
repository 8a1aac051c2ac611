import type * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { ORIGIN_TOKEN_HEADER, VIEWER_ADDRESS_HEADER } from '#contract/env/origin-token.ts';
import { ERRORS } from '#contract/values/errors.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/values/security-headers.ts';
import type { TokenPair } from '../parts/service-tokens.ts';

const managed = (name: string, priority: number, counted: string[] = []): wafv2.CfnWebACL.RuleProperty => ({
  name,
  priority,
  overrideAction: { none: {} },
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
    },
  },
  visibilityConfig: visibility(name),
});

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});

const TOKEN_HEADER = { singleHeader: { Name: 'authorization' } };
const AS_IT_IS = [{ priority: 0, type: 'NONE' }];

/** Requests with an Authorization header, which the firewall cannot verify. */
const withToken: wafv2.CfnWebACL.StatementProperty = {
  sizeConstraintStatement: {
    fieldToMatch: TOKEN_HEADER,
    comparisonOperator: 'GT',
    size: 0,
    textTransformations: AS_IT_IS,
  },
};

const TOO_MANY = 'TooManyRequests';

/** Allows up to `limit` requests per minute: per token, or per address without one. */
function rateLimit(
  name: string,
  priority: number,
  limit: number,
  of: Omit<wafv2.CfnWebACL.RateBasedStatementProperty, 'limit'>,
): wafv2.CfnWebACL.RuleProperty {
  const customResponse = {
    responseCode: ERRORS.HTTP429.status,
    customResponseBodyKey: TOO_MANY,
    // Only fixed values: a request id is not available here.
    responseHeaders: Object.entries({ ...SECURITY_HEADERS, ...TLS_HEADERS, 'Retry-After': '60' }).map(
      ([header, value]) => ({ name: header, value }),
    ),
  };
  return {
    name,
    priority,
    action: { block: { customResponse } },
    statement: { rateBasedStatement: { limit, evaluationWindowSec: 60, ...of } },
    visibilityConfig: visibility(name),
  };
}

const not = (statement: wafv2.CfnWebACL.StatementProperty): wafv2.CfnWebACL.StatementProperty => ({
  notStatement: { statement },
});

/** Requests that CloudFront sent: all of them come from its few addresses. */
function fromCloudFront({ sent, unused }: TokenPair): wafv2.CfnWebACL.StatementProperty {
  const hasToken = (searchString: string): wafv2.CfnWebACL.StatementProperty => ({
    byteMatchStatement: {
      fieldToMatch: { singleHeader: { Name: ORIGIN_TOKEN_HEADER } },
      positionalConstraint: 'EXACTLY',
      searchString,
      textTransformations: AS_IT_IS,
    },
  });
  return { orStatement: { statements: [hasToken(sent), hasToken(unused)] } };
}

/** The rates without a token count by address: by that of the browser for requests of CloudFront, which nobody else can claim. */
function rateLimits(tokens: TokenPair | undefined): wafv2.CfnWebACL.RuleProperty[] {
  const withoutToken = not(withToken);
  const fromViewers = tokens && fromCloudFront(tokens);
  return [
    rateLimit('RateWithToken', 0, 100, {
      aggregateKeyType: 'CUSTOM_KEYS',
      customKeys: [{ header: { name: 'authorization', textTransformations: AS_IT_IS } }],
      scopeDownStatement: withToken,
    }),
    rateLimit('RateWithoutToken', 1, 20, {
      aggregateKeyType: 'IP',
      scopeDownStatement: fromViewers
        ? { andStatement: { statements: [withoutToken, not(fromViewers)] } }
        : withoutToken,
    }),
    ...(fromViewers
      ? [
          rateLimit('RateOfViewersWithoutToken', 2, 20, {
            aggregateKeyType: 'FORWARDED_IP',
            forwardedIpConfig: { headerName: VIEWER_ADDRESS_HEADER, fallbackBehavior: 'MATCH' },
            scopeDownStatement: { andStatement: { statements: [withoutToken, fromViewers] } },
          }),
        ]
      : []),
  ];
}

const { message } = ERRORS.HTTP429;
const BODIES = {
  [TOO_MANY]: {
    contentType: 'APPLICATION_JSON',
    content: JSON.stringify({ detail: { code: 'HTTP429', message, field: '', context: {} } }),
  },
};

interface FirewallProps {
  readonly rateLimits: boolean;
  /** Tokens of CloudFront. @default - no CloudFront is before the APIs */
  readonly originTokens?: TokenPair | undefined;
}

/** Managed rules against common attacks and, if configured, rate limits, for stages of APIs. */
export class Firewall extends Construct {
  readonly #arn: string;

  constructor(scope: Construct, id: string, props: FirewallProps) {
    super(scope, id);
    const acl = new wafv2.CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('Firewall'),
      rules: [
        ...(props.rateLimits ? rateLimits(props.originTokens) : []),
        // Bodies over 8 KB and queries over 2 KB are normal here: a backtest or a freshness request may name hundreds of pairs.
        // The service has its own limits.
        managed('AWSManagedRulesCommonRuleSet', 3, ['SizeRestrictions_BODY', 'SizeRestrictions_QUERYSTRING']),
        managed('AWSManagedRulesKnownBadInputsRuleSet', 4),
      ],
      ...(props.rateLimits && { customResponseBodies: BODIES }),
    });
    this.#arn = acl.attrArn;
  }

  /** Protects the stage of an API. An association's ID must not change: its replacement would leave the stage unprotected. */
  protect(api: Construct, stage: apigateway.Stage): void {
    const scope = api === this.node.scope ? this : api;
    new wafv2.CfnWebACLAssociation(scope, 'Association', {
      webAclArn: this.#arn,
      resourceArn: stage.stageArn,
    });
  }
}
