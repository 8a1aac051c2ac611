import * as z from 'zod';

/** Requests and responses of the data-collection proxy. */

const PROXY_OPERATION_NAMES = ['health', 'fetch_ohlcv', 'symbols', 'status', 'check-freshness'] as const;

export type ProxyOperationName = (typeof PROXY_OPERATION_NAMES)[number];

export const ProxyRequest = z
  .object({
    operation: z.string().meta({ enum: [...PROXY_OPERATION_NAMES] }),
    params: z.record(z.string(), z.unknown()).optional().meta({ description: "The operation's parameters" }),
    deadline_ms: z.number().optional().meta({
      description: 'Maximum duration of the call, ms; the remaining time of the function applies too',
    }),
    safe: z.boolean().optional().meta({
      description:
        'false: a failure of data collection returns an `error` with the status of its code instead of a safe result',
      default: true,
    }),
  })
  .meta({
    id: 'ProxyRequest',
    examples: [{ operation: 'check-freshness', params: { symbols: ['BASE/QUOTE:SETTLE'], timeframe: '5m' } }],
  });

export const ProxyResponse = z
  .object({
    success: z.boolean(),
    data: z.object({
      operation: z.string(),
      result: z
        .record(z.string(), z.unknown())
        .nullable()
        .meta({ description: 'Has `error`, a string, when data collection failed' }),
    }),
    error: z
      .object({ code: z.string(), message: z.string(), field: z.string() })
      .optional()
      .meta({ description: 'Present exactly when `success` is false' }),
  })
  .meta({ id: 'ProxyAnswer' });

/** Return value of the function for orchestrators and other accounts. */
export const ProxyEnvelope = z.object({ statusCode: z.int(), body: ProxyResponse });
