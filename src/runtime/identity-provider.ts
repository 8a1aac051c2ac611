import { CognitoJwtVerifier } from 'aws-jwt-verify/cognito-verifier';
import * as failures from 'aws-jwt-verify/error';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import { CodedError } from '#contract/errors.ts';
import {
  ANONYMOUS,
  type Authenticate,
  isPrincipalName,
  membershipOf,
  type Principal,
  withoutIdentityProvider,
} from './authenticate.ts';
import { IssuerKeys } from './issuer-keys.ts';

/** Clocks of two machines differ by no more. */
const CLOCK_SKEW_S = 30;

export interface IdentityProvider {
  readonly userPoolId: string;
  readonly clientId: string;
  /** Default: fetched from the pool. */
  readonly keys?: IssuerKeys;
}

/**
 * Accepts access tokens of a Cognito user pool made for one of its clients, not ID tokens: those tell an application who
 * its user is, and hold what a user may edit. The principal is the token's `sub`, its roles the groups of their names.
 * Without a token the caller is anonymous with all roles, unless authentication is enforced.
 * Throws AUTH001, AUTH002 (`context.reason`), AUTH003, and HTTP503 when the issuer's keys are needed and not to be had.
 */
export function withIdentityProvider(
  { userPoolId, clientId, keys = new IssuerKeys() }: IdentityProvider,
  options: { readonly enforced: boolean },
): Authenticate {
  const verifier = CognitoJwtVerifier.create(
    { userPoolId, clientId, tokenUse: 'access', graceSeconds: CLOCK_SKEW_S },
    { jwksCache: keys },
  );
  return async (authorization) => {
    if (authorization !== null) return verified(verifier.verify.bind(verifier), authorization);
    if (options.enforced) throw new CodedError('AUTH003', { field: 'Authorization' });
    return ANONYMOUS;
  };
}

/** How a service tells its callers, by what its environment says of the identity provider. */
export function authenticateBy(env: {
  readonly environment: string;
  readonly userPoolId: string | undefined;
  readonly clientId: string | undefined;
}): Authenticate {
  const { userPoolId, clientId } = env;
  const options = { enforced: env.environment === 'production' };
  return userPoolId && clientId
    ? withIdentityProvider({ userPoolId, clientId }, options)
    : withoutIdentityProvider(options);
}

type Claims = Readonly<Record<string, unknown>>;

async function verified(
  verify: (token: string) => Promise<Claims>,
  authorization: string,
): Promise<Principal> {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw invalid('scheme');
  const claims = await verify(token).catch((error: unknown) => {
    throw refusal(error);
  });
  // RFC 7515, 4.1.11: a token whose critical extensions its reader does not implement is invalid. We implement none.
  if (Object.hasOwn(decomposeUnverifiedJwt(token).header, 'crit')) throw invalid('critical_extension');
  const { sub, exp } = claims;
  // The verifier takes both for optional: a token without them would be nobody's, or valid for ever.
  if (!isPrincipalName(sub) || exp === undefined) throw invalid('claims');
  return { id: sub, ...membershipOf(claims['cognito:groups']) };
}

/** The first that fits names what is wrong. */
const REASONS: readonly (readonly [abstract new (...args: never[]) => Error, string])[] = [
  // No pool of ours has the token's issuer.
  [failures.ParameterValidationError, 'issuer'],
  [failures.JwtInvalidIssuerError, 'issuer'],
  [failures.CognitoJwtInvalidClientIdError, 'client'],
  [failures.CognitoJwtInvalidTokenUseError, 'token_use'],
  [failures.JwtNotBeforeError, 'not_yet_valid'],
  [failures.JwtInvalidSignatureAlgorithmError, 'algorithm'],
  [failures.JwtInvalidSignatureError, 'signature'],
  [failures.KidNotFoundInJwksError, 'key'],
  [failures.JwtWithoutValidKidError, 'key'],
];

function refusal(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  if (error instanceof failures.JwtExpiredError) {
    return new CodedError('AUTH001', { field: 'Authorization', cause: error });
  }
  const reason = REASONS.find(([kind]) => error instanceof kind)?.[1] ?? 'malformed';
  return invalid(reason, error);
}

function invalid(reason: string, cause?: unknown): CodedError {
  return new CodedError('AUTH002', { field: 'Authorization', context: { reason }, cause });
}
