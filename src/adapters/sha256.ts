import { createHash } from 'node:crypto';
import type { Digest } from '#contract/values/digest.ts';

/** sha-256, hex. */
export const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');
