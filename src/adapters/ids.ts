import { createHash } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import type { Digest, Ids } from '#domain/ports.ts';

let next: (() => string) | undefined;

/** ULIDs that ascend within this process, even within one millisecond. The first loads Web Crypto. */
export const ulids: Ids = {
  ulid: () => {
    next ??= monotonicFactory();
    return next();
  },
};

/** sha-256, hex. */
export const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');
