import { AsyncLocalStorage } from 'node:async_hooks';
import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';

/** Methods of Powertools' Logger that the runtime uses. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Adds the correlation id of the current request to every line, including those of adapters. */
class ContextLogFormatter extends LogFormatter {
  override formatAttributes(attributes: UnformattedAttributes, additional: LogAttributes): LogItem {
    const { lambdaContext } = attributes;
    return new LogItem({
      attributes: {
        level: attributes.logLevel,
        message: attributes.message,
        timestamp: this.formatTimestamp(attributes.timestamp),
        service: attributes.serviceName,
        correlation_id: currentContext()?.correlationId,
        cold_start: lambdaContext?.coldStart,
        function_name: lambdaContext?.functionName,
        function_version: lambdaContext?.functionVersion,
        function_request_id: lambdaContext?.awsRequestId,
        xray_trace_id: attributes.xRayTraceId,
      },
    }).addAttributes(additional);
  }
}

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

/**
 * Logs one JSON line per message to standard output. External text can neither forge a line nor control the terminal; long text
 * is truncated, and credentials are left out.
 */
export function createLogger(serviceName: string, logLevel: LogLevel): Logger {
  return new Logger({
    serviceName,
    logLevel,
    logFormatter: new ContextLogFormatter(),
    jsonReplacerFn: fitToLog,
  });
}

/** Field names that contain credentials, in libraries and in Touchstone. */
const SECRET =
  /^(authorization|cookie|set-cookie|.*(token|secret|password|secret_?access_?key|private_?key))$/i;
const BEARER = /\bBearer +[\w.~+/=-]+/gi;
/** JSON already escapes characters up to U+001F. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu;
/** A deep stack has 4,000 characters. */
const MAX_TEXT = 8_192;

function fitToLog(key: string, value: unknown): unknown {
  if (SECRET.test(key) && value !== null && value !== undefined) return '[left out]';
  if (typeof value !== 'string') return value;
  const more = value.length - MAX_TEXT;
  const text = more > 0 ? `${value.slice(0, MAX_TEXT)} and ${more} characters more` : value;
  return text
    .replace(BEARER, 'Bearer [left out]')
    .replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** Context of the current request or task, available in the whole call tree. */
export interface RequestContext {
  readonly correlationId: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `work` so that everything it logs carries the correlation id. */
export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** Undefined outside a request. */
function currentContext(): RequestContext | undefined {
  return storage.getStore();
}
