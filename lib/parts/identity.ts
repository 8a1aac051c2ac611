import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { RESOURCE_SERVER } from '#contract/values/names.ts';
import type { WebConfig } from '#contract/values/web-config.ts';
import type { StageConfig } from '../settings/config.ts';
import { deploymentName } from '../settings/stage-names.ts';
import { webOrigin } from '../settings/web-settings.ts';
import { acknowledge } from './construct-helpers.ts';

/** Permissions of each role's group, for the group's description. Services read roles from a token's `cognito:groups`. */
const GROUPS = {
  viewer: 'Reads shared jobs and models',
  researcher: 'Runs backtests and hyperopt jobs, registers versions',
  approver: 'Moves versions between stages',
  admin: 'Everything, everyone',
} as const;

/** Page of the dashboard to which the sign-in pages return. */
const SIGN_IN_PAGE = '/sign-in';

type HostedUi = Extract<StageConfig['identity'], { kind: 'own' }>['hostedUi'] & object;

export interface UserPool {
  readonly userPoolId: string;
  readonly clientId: string;
  readonly region: string;
  /** Clients of programs. */
  readonly machineClientIds: readonly string[];
}

/** Environment variables of a service's pool; none without a pool. */
export function poolVariables<S extends string>(service: S, pool: UserPool | undefined) {
  return (
    pool
      ? {
          [`${service}_IDP_USER_POOL_ID`]: pool.userPoolId,
          [`${service}_IDP_CLIENT_ID`]: pool.clientId,
          [`${service}_IDP_REGION`]: pool.region,
          ...(pool.machineClientIds.length > 0 && {
            [`${service}_IDP_MACHINE_CLIENT_IDS`]: pool.machineClientIds.join(','),
          }),
        }
      : {}
  ) as {
    readonly [K in `${S}_IDP_${'USER_POOL_ID' | 'CLIENT_ID' | 'MACHINE_CLIENT_IDS' | 'REGION'}`]?: string;
  };
}

/** Issuer of tokens in this stage. */
export class Identity extends Construct {
  /** Undefined in a stage without users. */
  readonly pool: UserPool | undefined;
  /** Sign-in of the dashboard; null where no pages allow the dashboard's address. */
  readonly signIn: WebConfig['auth'] = null;

  constructor(scope: Construct, id: string, props: { readonly config: StageConfig }) {
    super(scope, id);
    const { identity } = props.config;
    if (identity.kind === 'existing') {
      const { userPoolId, clientId, region } = identity;
      this.pool = { userPoolId, clientId, region, machineClientIds: [] };
      if (identity.signInUrl) this.signIn = signInOf(this.pool, identity.signInUrl);
    } else if (identity.kind === 'own') {
      this.pool = this.#createPool(props.config, identity.hostedUi);
      if (webOrigin(props.config)) {
        const { region } = this.pool;
        const prefix = domainPrefixOf(this, props.config, identity.hostedUi);
        this.signIn = signInOf(this.pool, `https://${prefix}.auth.${region}.amazoncognito.com`);
      }
    }
    if (this.pool) this.#addOutputs(this.pool);
  }

  /** Outputs that a user needs to get a token. */
  #addOutputs({ userPoolId, clientId }: UserPool): void {
    const stack = Stack.of(this);
    new CfnOutput(stack, 'UserPoolId', { value: userPoolId, description: 'User pool of users and roles' });
    new CfnOutput(stack, 'UserPoolClientId', {
      value: clientId,
      description: 'App client whose tokens the services accept',
    });
  }

  #createPool(config: StageConfig, hostedUi: HostedUi | undefined): UserPool {
    const { protect, machineClients } = config;
    const pages = signInPages(config, hostedUi);
    const pool = new cognito.UserPool(this, 'Pool', {
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      accountRecovery: cognito.AccountRecovery.EMAIL_ONLY,
      // Optional per user; an administrator can see who has one.
      mfa: cognito.Mfa.OPTIONAL,
      mfaSecondFactor: { sms: false, otp: true },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(3),
      },
      deletionProtection: protect,
      // As a protected table: the rollback of a creation could not delete it.
      removalPolicy: protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    acknowledge(pool, {
      'AwsSolutions-COG8':
        'Threat protection needs the Plus plan, billed by user. Users are created by hand, with long passwords.',
      'AwsSolutions-COG2':
        'MFA is optional per user: scripts that get tokens with a password cannot enter a second factor.',
    });
    for (const [groupName, description] of Object.entries(GROUPS)) {
      new cognito.CfnUserPoolGroup(this, groupName, { userPoolId: pool.userPoolId, groupName, description });
    }
    const client = addUserClient(pool, pages);
    const machineClientIds = this.#addMachineClients(pool, machineClients);
    if (pages || machineClients.length > 0) {
      const domainPrefix = domainPrefixOf(this, config, hostedUi);
      const domain = pool.addDomain('Domain', { cognitoDomain: { domainPrefix } });
      new CfnOutput(Stack.of(this), 'TokenUrl', {
        value: `${domain.baseUrl()}/oauth2/token`,
        description: 'Token endpoint of machine clients',
      });
    }
    return {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      region: Stack.of(this).region,
      machineClientIds,
    };
  }

  /** Clients of programs, which get tokens with their own secret and one role as a scope. Returns their IDs. */
  #addMachineClients(pool: cognito.UserPool, machineClients: StageConfig['machineClients']): string[] {
    if (machineClients.length === 0) return [];
    const scopes = new Map(
      Object.entries(GROUPS).map(([scopeName, scopeDescription]) => [
        scopeName,
        new cognito.ResourceServerScope({ scopeName, scopeDescription }),
      ]),
    );
    const server = pool.addResourceServer('Roles', {
      identifier: RESOURCE_SERVER,
      scopes: [...scopes.values()],
    });
    return machineClients.map(({ name, role }) => {
      const id = `MachineClient${pascalCase(name)}`;
      const client = pool.addClient(id, {
        userPoolClientName: name,
        generateSecret: true,
        oAuth: {
          flows: { clientCredentials: true },
          scopes: [cognito.OAuthScope.resourceServer(server, scopes.get(role)!)],
        },
        accessTokenValidity: Duration.hours(1),
        // Without a list Cognito also allows users to sign in with the client.
        authFlows: {},
      });
      const { userPoolClientId } = client;
      (client.node.defaultChild as cognito.CfnUserPoolClient).explicitAuthFlows = [
        'ALLOW_REFRESH_TOKEN_AUTH',
      ];
      new CfnOutput(Stack.of(this), id, { value: userPoolClientId, description: `Client ${name}: ${role}` });
      return userPoolClientId;
    });
  }
}

/** Addresses to which the sign-in pages return; undefined where nothing uses the pages. */
function signInPages(config: StageConfig, hostedUi: HostedUi | undefined) {
  const origin = webOrigin(config);
  const dashboard = origin === undefined ? [] : [`${origin}${SIGN_IN_PAGE}`];
  const callbackUrls = [...(hostedUi?.callbackUrls ?? []), ...dashboard];
  return callbackUrls.length === 0
    ? undefined
    : { callbackUrls, ...(dashboard.length > 0 && { logoutUrls: dashboard }) };
}

function domainPrefixOf(scope: Construct, config: StageConfig, hostedUi: HostedUi | undefined): string {
  return hostedUi?.domainPrefix ?? `touchstone-${deploymentName(config)}-${Stack.of(scope).account}`;
}

/** Cognito's endpoints: `pages` is the address of the pool's domain. */
function signInOf({ region, userPoolId, clientId }: UserPool, pages: string): WebConfig['auth'] {
  return {
    issuer: `https://cognito-idp.${region}.amazonaws.com/${userPoolId}`,
    authorize: `${pages}/oauth2/authorize`,
    token: `${pages}/oauth2/token`,
    revoke: `${pages}/oauth2/revoke`,
    logout: `${pages}/logout`,
    client_id: clientId,
    scopes: ['openid'],
  };
}

/** `nightly-run` -> `NightlyRun`, for logical IDs, which have no hyphens. */
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Client of people. @param pages sign-in pages; undefined without any */
function addUserClient(
  pool: cognito.UserPool,
  pages: ReturnType<typeof signInPages>,
): cognito.UserPoolClient {
  return pool.addClient('Client', {
    // Password sign-in for the command line, which has no SRP; only over TLS and only to Cognito.
    authFlows: { userSrp: true, userPassword: true },
    preventUserExistenceErrors: true,
    accessTokenValidity: Duration.hours(1),
    // One working day; then the user signs in again.
    refreshTokenValidity: Duration.hours(12),
    // Sign-out of the dashboard revokes the refresh token.
    enableTokenRevocation: true,
    ...(pages
      ? {
          oAuth: {
            flows: { authorizationCodeGrant: true },
            scopes: [cognito.OAuthScope.OPENID],
            ...pages,
          },
        }
      : { disableOAuth: true }),
  });
}
