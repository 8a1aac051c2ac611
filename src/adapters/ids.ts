import { createHash } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import type { Digest, Ids } from '#domain/ports.ts';

const next = monotonicFactory();

/** ULIDs that ascend within this process, even within one millisecond. */
export const ulids: Ids = { ulid: () => next() };

/** sha-256, hex. */
export const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');
