import type { Logger } from '@aws-lambda-powertools/logger';
import type * as z from 'zod';
import { readEnv } from './env.ts';
import { createLogger, type LogLevel } from './log.ts';

/**
 * The environment and the log of a process of its own; what ends it early becomes one line of that log.
 * Node would print the line of code that threw, which in a bundle is too long for a log or a pipe to keep what follows it.
 *
 * `fail` is what does that: a process which can tell more of what failed may take it off `uncaughtException`.
 *
 * @param schema of the environment; see src/contract/env.ts
 */
export function startProcess<T extends z.ZodType<{ LOG_LEVEL: LogLevel }>>(
  schema: T,
  serviceName: string,
): { env: z.output<T>; log: Logger; fail: (error: unknown) => void } {
  const fail = (error: unknown) => {
    createLogger(serviceName, 'ERROR').error('process failed', error as Error);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  const env = readEnv(schema);
  return { env, log: createLogger(serviceName, env.LOG_LEVEL), fail };
}
