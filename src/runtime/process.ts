import type { Logger } from '@aws-lambda-powertools/logger';
import type * as z from 'zod';
import { readEnv } from './env.ts';
import { createLogger, type LogLevel } from './log.ts';

/**
 * Reads the environment of a task process and creates its log. An uncaught error becomes one log line. Node would print the
 * source line that threw, which in a bundle is so long that the message after it is lost.
 *
 * `fail` handles uncaught errors. A process that has more details can remove it from `uncaughtException` and call it.
 *
 * @param schema environment schema, see src/contract/env.ts
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
