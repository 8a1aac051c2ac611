import { CANARY_OWNER, EARLIER_PLATFORM, ERASED_PREFIX, OPERATOR, PLATFORM } from '#contract/values/names.ts';

/** Name of the platform's services in calls of each other. */
export const SERVICE_ID = 'service';
/** Name of callers without a token, where none is required. */
export const ANONYMOUS_ID = 'anonymous';

const OWN = [PLATFORM, EARLIER_PLATFORM, OPERATOR, SERVICE_ID, CANARY_OWNER];

/**
 * True for an ID that is no user's and no anonymous caller's: what it did would be recorded as of the platform, its operator or a service,
 * and what it owns would be what an erased user has left.
 */
export function isOwnPrincipal(id: string): boolean {
  return OWN.includes(id) || id.startsWith(ERASED_PREFIX);
}
