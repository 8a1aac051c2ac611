import {
  CfnOutput,
  DefaultStackSynthesizer,
  Fn,
  RemovalPolicy,
  Stack,
  type StackProps,
  Validations,
} from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import { flattenCfnReference } from 'cdk-nag/lib/utils/flatten-cfn-reference.js';
import type { Construct, IConstruct } from 'constructs';
import type { StageConfig } from '../settings/config.ts';
import { deploymentName } from '../settings/stage-names.ts';

/** Environment variables of a function or container, as an entry point's schema in src/contract/env/env.ts types them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that are set in this stage. */
export function defined(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Properties that the stacks of a stage share. */
export function stackProps(config: StageConfig, contents: string): StackProps {
  const { bootstrapQualifier: qualifier, tags } = config;
  return {
    env: config.env,
    terminationProtection: config.protect,
    description: `Touchstone ${deploymentName(config)}: ${contents}`,
    // CloudFormation passes a stack's own tags to resources of which the CDK knows none.
    ...(Object.keys(tags).length > 0 && { tags }),
    ...(qualifier && { synthesizer: new DefaultStackSynthesizer({ qualifier }) }),
  };
}

/**
 * Policy of what a protected stage keeps when its stack is deleted. A creation that fails keeps nothing: the name must be free for the
 * next one.
 */
export function removalPolicyOf({ protect }: StageConfig): RemovalPolicy {
  return protect ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}

/** First eight digits of the ID of the scope's stack, for the names of what outlives the stack: a later stack has others. */
export function stackSuffix(scope: Construct): string {
  // arn:aws:cloudformation:{region}:{account}:stack/{name}/{UUID}
  const uuid = Fn.select(2, Fn.split('/', Stack.of(scope).stackId));
  return Fn.select(0, Fn.split('-', uuid));
}

/** A log group with the stage's retention; a protected stage keeps it when its stack is deleted. */
export function logGroup(
  scope: Construct,
  id: string,
  config: StageConfig,
  props: Pick<logs.LogGroupProps, 'logGroupName' | 'logGroupClass'> = {},
): logs.LogGroup {
  return new logs.LogGroup(scope, id, {
    ...props,
    retention: config.logRetentionDays,
    removalPolicy: removalPolicyOf(config),
  });
}

/** Adds outputs of the stack with these names, which do not depend on the scope. */
export function stackOutputs(
  scope: Construct,
  description: string,
  values: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(values)) {
    new CfnOutput(scope, name, { value, description }).overrideLogicalId(name);
  }
}

/** Accepts findings of cdk-nag on a construct and its children: rule -> reason. */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [id, reason] of Object.entries(reasons)) Validations.of(construct).acknowledge({ id, reason });
}

/**
 * Accepts one resource with a wildcard in a role's policies. cdk-nag names the finding by the resource as the template
 * has it, and that is known when references between stacks have been resolved: just before constructs are validated.
 */
export function acknowledgeWildcard(role: IConstruct, resource: string, reason: string): void {
  role.node.addValidation({
    validate: () => {
      const found = flattenCfnReference(Stack.of(role).resolve(resource));
      acknowledge(role, { [`AwsSolutions-IAM5[Resource::${found}]`]: reason });
      return [];
    },
  });
}
