import process from 'node:process';
import type { Logger } from '@aws-lambda-powertools/logger';
import type { EnvDeclaration, EnvOf, OptionalVariable, Variables } from '#contract/env/env-fields.ts';
import { readEnv } from './env.ts';
import { createLogger, type LogLevel } from './log.ts';

type LoggedEnv = EnvDeclaration<Variables & { readonly LOG_LEVEL: OptionalVariable<LogLevel> }>;

/**
 * Reads the environment of a task process and creates its log. An uncaught error becomes one log line. Node would print the
 * source line that threw, which in a bundle is so long that the message after it is lost.
 *
 * `fail` handles uncaught errors. A process that has more details can remove it from `uncaughtException` and call it.
 *
 * @param environment an environment of src/contract/env/env.ts
 */
export function startProcess<E extends LoggedEnv>(
  environment: E,
  serviceName: string,
): { env: EnvOf<E>; log: Logger; fail: (error: unknown) => void } {
  let log: Logger | undefined;
  const fail = (error: unknown) => {
    // A process that has loaded a strategy file can make no other: the package finds no standard output.
    (log ?? createLogger(serviceName, 'ERROR')).error('process failed', error as Error);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  const env = readEnv(environment);
  log = createLogger(serviceName, (env as EnvOf<LoggedEnv>).LOG_LEVEL);
  return { env, log, fail };
}
