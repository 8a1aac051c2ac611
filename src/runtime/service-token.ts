import { createHash, timingSafeEqual } from 'node:crypto';
import type { Authenticate, Principal } from './authenticate.ts';

/** Touchstone's own services among themselves: reads market data and starts collections, no more. */
const SERVICE: Principal = { id: 'service', roles: ['researcher'], groups: [] };

/** Accepts the token that the platform's own services share, and leaves everything else to `next`. */
export function withServiceToken(token: string | undefined, next: Authenticate): Authenticate {
  if (token === undefined) return next;
  const expected = digest(`Bearer ${token}`);
  return async (authorization) =>
    authorization !== null && timingSafeEqual(digest(authorization), expected)
      ? SERVICE
      : next(authorization);
}

/** Texts of one length, so that comparing them takes the same time whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
