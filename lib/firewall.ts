import type * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

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

/** Managed rules against the common attacks and a limit per address, before one stage of an API. */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, props: { readonly stage: apigateway.Stage }) {
    super(scope, id);
    const acl = new wafv2.CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('Firewall'),
      rules: [
        {
          name: 'RateLimit',
          priority: 0,
          action: { block: {} },
          // 2,000 in five minutes is 6 a second for each address: a dashboard of twenty people behind one.
          statement: { rateBasedStatement: { limit: 2000, aggregateKeyType: 'IP' } },
          visibilityConfig: visibility('RateLimit'),
        },
        // Bodies over 8 KB are ordinary here: a backtest may name hundreds of pairs. The service refuses over 1 MiB.
        managed('AWSManagedRulesCommonRuleSet', 1, ['SizeRestrictions_BODY']),
        managed('AWSManagedRulesKnownBadInputsRuleSet', 2),
      ],
    });
    new wafv2.CfnWebACLAssociation(this, 'Association', {
      webAclArn: acl.attrArn,
      resourceArn: props.stage.stageArn,
    });
  }
}
