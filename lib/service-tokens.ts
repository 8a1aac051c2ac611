import { CfnCondition, CfnParameter, Fn, type SecretValue } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge, stackOutputs } from './construct-helpers.ts';

/**
 * Two tokens of the data proxy at data collection, which accepts both. The stack parameter `ServiceTokenSlot` selects the one that the
 * proxy sends, so a rotation replaces the other one first: bin/rotate-secret.ts. The parameter makes the reference in the proxy's
 * environment change: CloudFormation does not resolve an unchanged reference to a secret again.
 */
export class ServiceTokens {
  /** Environment of data collection. */
  readonly accepted: Record<'SERVICE_TOKEN' | 'SERVICE_TOKEN_2', ecs.Secret>;
  /** Token that the proxy sends. CloudFormation resolves it into the function's encrypted environment. */
  readonly sent: string;
  /** Slot of that token. */
  readonly slot: string;

  /** @param scope the construct of data collection */
  constructor(scope: Construct, stage: string) {
    const [first, second] = ['ServiceToken', 'ServiceToken2'].map((id) => tokenSecret(scope, id, stage));
    this.accepted = {
      SERVICE_TOKEN: ecs.Secret.fromSecretsManager(first!),
      SERVICE_TOKEN_2: ecs.Secret.fromSecretsManager(second!),
    };
    const slot = new CfnParameter(scope, 'ServiceTokenSlot', {
      description: 'The service token that the data proxy sends. Changed by npm run rotate-secret only.',
      allowedValues: ['1', '2'],
      default: '1',
    });
    slot.overrideLogicalId('ServiceTokenSlot');
    const isSecond = new CfnCondition(scope, 'SendsSecondToken', {
      expression: Fn.conditionEquals(slot, '2'),
    });
    const reference = (secret: SecretValue) => secret.unsafeUnwrap();
    this.sent = Fn.conditionIf(
      isSecond.logicalId,
      reference(second!.secretValue),
      reference(first!.secretValue),
    ).toString();
    this.slot = slot.valueAsString;
    stackOutputs(scope, 'For npm run rotate-secret', {
      ServiceTokenArn1: first!.secretArn,
      ServiceTokenArn2: second!.secretArn,
    });
  }
}

function tokenSecret(scope: Construct, id: string, stage: string): secretsmanager.Secret {
  const secret = new secretsmanager.Secret(scope, id, {
    description: `Touchstone ${stage}: the data proxy's token at data collection`,
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
  });
  acknowledge(secret, {
    'AwsSolutions-SMG4':
      'npm run rotate-secret replaces both tokens without an interruption. It restarts data collection and updates the stack, which a rotation function would need broad permissions for.',
  });
  return secret;
}
