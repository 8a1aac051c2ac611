import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { StageConfig } from './config.ts';

/** Role -> what its group may do. Services read roles from a token's `cognito:groups`. */
const GROUPS = {
  viewer: 'Reads what is shared',
  researcher: 'Runs backtests and studies, registers versions',
  approver: 'Moves versions between stages',
  admin: 'Everything, everyone',
} as const;

export interface UserPool {
  readonly userPoolId: string;
  readonly clientId: string;
  readonly region: string;
}

/** What a service's environment says of the pool: nothing where there is none. */
export function poolVariables<S extends string>(service: S, pool: UserPool | undefined) {
  return (
    pool
      ? {
          [`${service}_IDP_USER_POOL_ID`]: pool.userPoolId,
          [`${service}_IDP_CLIENT_ID`]: pool.clientId,
          [`${service}_IDP_REGION`]: pool.region,
        }
      : {}
  ) as { readonly [K in `${S}_IDP_${'USER_POOL_ID' | 'CLIENT_ID' | 'REGION'}`]?: string };
}

/** Who issues tokens in this stage. */
export class Identity extends Construct {
  /** Undefined where the stage knows no users. */
  readonly pool: UserPool | undefined;

  constructor(scope: Construct, id: string, props: { readonly config: StageConfig }) {
    super(scope, id);
    const { identity, protect } = props.config;
    if (identity.kind === 'existing') {
      this.pool = { userPoolId: identity.userPoolId, clientId: identity.clientId, region: identity.region };
    } else if (identity.kind === 'own') {
      this.pool = this.#createPool(protect);
    }
  }

  #createPool(protect: boolean): UserPool {
    const pool = new cognito.UserPool(this, 'Pool', {
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      accountRecovery: cognito.AccountRecovery.EMAIL_ONLY,
      mfa: cognito.Mfa.REQUIRED,
      mfaSecondFactor: { sms: false, otp: true },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      deletionProtection: protect,
      removalPolicy: protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    acknowledge(pool, {
      'AwsSolutions-COG8':
        'Threat protection needs the Plus plan, billed by user. Users are created by hand and every sign-in needs a second factor.',
    });
    for (const [groupName, description] of Object.entries(GROUPS)) {
      new cognito.CfnUserPoolGroup(this, groupName, { userPoolId: pool.userPoolId, groupName, description });
    }
    const client = pool.addClient('Client', {
      authFlows: { userSrp: true },
      preventUserExistenceErrors: true,
      accessTokenValidity: Duration.hours(1),
      disableOAuth: true,
    });
    return { userPoolId: pool.userPoolId, clientId: client.userPoolClientId, region: Stack.of(this).region };
  }
}
