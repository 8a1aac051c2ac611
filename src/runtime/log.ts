import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { currentContext } from './request-context.ts';

/** What the runtime needs of a logger; Powertools' Logger is one. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Adds the correlation id of the request at hand to every line, also to those of adapters that know nothing of it. */
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
        function_request_id: lambdaContext?.awsRequestId,
        xray_trace_id: attributes.xRayTraceId,
      },
    }).addAttributes(additional);
  }
}

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

/** A JSON line per message on standard output: text from outside cannot forge one. */
export function createLogger(serviceName: string, logLevel: LogLevel): Logger {
  return new Logger({ serviceName, logLevel, logFormatter: new ContextLogFormatter() });
}
