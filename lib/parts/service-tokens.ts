import { CfnCondition, CfnParameter, Fn, Stack } from 'aws-cdk-lib';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge, stackOutputs } from './construct-helpers.ts';

/** Stack parameter that selects the token which each sender sends, and its condition: one for all tokens of a stack. */
class TokenSlot {
  readonly value: string;
  readonly #isSecond: string;

  constructor(scope: Construct) {
    const stack = Stack.of(scope);
    const found = stack.node.tryFindChild('ServiceTokenSlot') as CfnParameter | undefined;
    const slot =
      found ??
      new CfnParameter(stack, 'ServiceTokenSlot', {
        description:
          'The token that the data proxy, the canary and CloudFront send. Changed by npm run rotate-secret only.',
        allowedValues: ['1', '2'],
        default: '1',
      });
    const isSecond =
      (stack.node.tryFindChild('SendsSecondToken') as CfnCondition | undefined) ??
      new CfnCondition(stack, 'SendsSecondToken', { expression: Fn.conditionEquals(slot, '2') });
    this.value = slot.valueAsString;
    this.#isSecond = isSecond.logicalId;
  }

  choose(first: string, second: string): string {
    return Fn.conditionIf(this.#isSecond, second, first).toString();
  }
}

export interface TokenPairProps {
  /** Of the first secret; the second one's ends with 2. */
  readonly id: string;
  /** Prefix of the outputs: `ServiceToken` has `ServiceTokenArn1` and `ServiceTokenArn2`. */
  readonly output: string;
  readonly description: string;
}

/**
 * Two tokens of one sender; its receiver accepts both. The stack parameter `ServiceTokenSlot` selects the one that is sent, so a
 * rotation replaces the other one first: bin/operate/rotate-secret.ts. The parameter makes the references in the environments of functions
 * change: CloudFormation does not resolve an unchanged reference to a secret again.
 */
export class TokenPair {
  readonly secrets: readonly [secretsmanager.Secret, secretsmanager.Secret];
  /** Token that is sent. CloudFormation resolves it into the function's encrypted environment. */
  readonly sent: string;
  /** The other token. */
  readonly unused: string;
  /** Slot of the token that is sent. */
  readonly slot: string;

  constructor(scope: Construct, { id, output, description }: TokenPairProps) {
    const first = tokenSecret(scope, id, description);
    const second = tokenSecret(scope, `${id}2`, description);
    this.secrets = [first, second];
    const slot = new TokenSlot(scope);
    const [a, b] = this.secrets.map(({ secretValue }) => secretValue.unsafeUnwrap()) as [string, string];
    this.sent = slot.choose(a, b);
    this.unused = slot.choose(b, a);
    this.slot = slot.value;
    stackOutputs(scope, 'For npm run rotate-secret', {
      [`${output}Arn1`]: first.secretArn,
      [`${output}Arn2`]: second.secretArn,
    });
  }
}

function tokenSecret(scope: Construct, id: string, description: string): secretsmanager.Secret {
  const secret = new secretsmanager.Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
  });
  acknowledge(secret, {
    'AwsSolutions-SMG4':
      'npm run rotate-secret replaces the tokens without an interruption. It restarts data collection and updates the stack, which a rotation function would need broad permissions for.',
  });
  return secret;
}
