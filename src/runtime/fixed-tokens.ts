import { createHash, timingSafeEqual } from 'node:crypto';
import { CANARY_OWNER } from '#contract/values/names.ts';
import { SERVICE_ID } from '#domain/access/own-principals.ts';
import type { Authenticate, Principal } from './authenticate.ts';

/** Principal of Touchstone's services: it can read market data and start collections. */
const SERVICE: Principal = { id: SERVICE_ID, roles: ['researcher'], groups: [] };

/** Accepts the tokens of the platform's services that are set, and passes any other request to `next`. */
export function withServiceTokens(tokens: readonly (string | undefined)[], next: Authenticate): Authenticate {
  return withTokens(tokens, SERVICE, next);
}

/** Principal of the canary. No user has this id: an identity provider's ids are UUIDs. */
const CANARY: Principal = { id: CANARY_OWNER, roles: ['researcher'], groups: [], isCanary: true };

/** Accepts the tokens of the canary that are set, and passes any other request to `next`. */
export function withCanaryTokens(tokens: readonly (string | undefined)[], next: Authenticate): Authenticate {
  return withTokens(tokens, CANARY, next);
}

function withTokens(
  tokens: readonly (string | undefined)[],
  principal: Principal,
  next: Authenticate,
): Authenticate {
  return tokens.reduceRight((others, token) => withToken(token, principal, others), next);
}

function withToken(token: string | undefined, principal: Principal, next: Authenticate): Authenticate {
  if (token === undefined) return next;
  return async (authorization) =>
    authorization !== null && isToken(authorization, `Bearer ${token}`) ? principal : next(authorization);
}

/** True for the expected text. Compares digests of equal length, so that the comparison takes constant time. */
export function isToken(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
