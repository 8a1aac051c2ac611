import { Stack, Validations } from 'aws-cdk-lib';
import { flattenCfnReference } from 'cdk-nag/lib/utils/flatten-cfn-reference.js';
import type { IConstruct } from 'constructs';

/** Accepts findings of cdk-nag on a construct and what it contains: rule -> why it is right here. */
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
