import { createHash } from 'node:crypto';
import type { Digest } from '#engine/digest.ts';

/** sha-256, hex. */
export const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');
