import { lazy } from '#domain/shared/lazy.ts';
import { type Authenticate, withoutIdentityProvider, withoutToken } from './authenticate.ts';

/** True in a deployment that requires a token for calls that are not public. */
export function isEnforced({ ENVIRONMENT }: { readonly ENVIRONMENT: string }): boolean {
  return ENVIRONMENT === 'production';
}

/** Authentication of a service, from its identity provider variables. The first token loads the code that verifies it. */
export function authenticateBy<S extends string>(
  service: S,
  env: { readonly ENVIRONMENT: string } & {
    readonly [K in `${S}_IDP_${'USER_POOL_ID' | 'CLIENT_ID'}`]?: string | undefined;
  } & { readonly [K in `${S}_IDP_MACHINE_CLIENT_IDS`]?: readonly string[] | undefined },
): Authenticate {
  const variable = <T>(name: string) =>
    (env as Readonly<Record<string, unknown>>)[`${service}_IDP_${name}`] as T | undefined;
  const userPoolId = variable<string>('USER_POOL_ID');
  const clientId = variable<string>('CLIENT_ID');
  const machineClientIds = variable<readonly string[]>('MACHINE_CLIENT_IDS');
  const options = { enforced: isEnforced(env) };
  if (!userPoolId || !clientId) return withoutIdentityProvider(options);
  const provider = lazy(async () => {
    const { withIdentityProvider } = await import('./identity-provider.ts');
    return { authenticate: withIdentityProvider({ userPoolId, clientId, machineClientIds }, options) };
  });
  return async (authorization) =>
    authorization === null ? withoutToken(options) : provider.authenticate(authorization);
}
