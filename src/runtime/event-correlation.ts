import { randomUUID } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';

/** Middleware that gives all log lines of an invocation the same correlation id, for events that have none. */
export function eventCorrelation(logger: Logger) {
  return { before: () => logger.setCorrelationId(randomUUID()) };
}
