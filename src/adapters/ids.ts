import { monotonicFactory } from 'ulid';
import type { Ids } from '#domain/ports.ts';

let next: (() => string) | undefined;

/** ULIDs that ascend within this process, even within one millisecond. The first loads Web Crypto. */
export const ulids: Ids = {
  ulid: () => {
    next ??= monotonicFactory();
    return next();
  },
};
