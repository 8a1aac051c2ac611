import * as z from 'zod';
import { Timestamp } from '../common/time.ts';

/** Request and response of the export of a backtest. */

const EXPORT_FORMATS = ['csv', 'parquet', 'orders', 'json', 'html'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const BacktestExportQuery = z.object({
  format: z
    .enum(EXPORT_FORMATS)
    .default('csv')
    .meta({
      description:
        '`csv`, `parquet`: the trades. `orders`: the orders of trades with additions or partial exits, as CSV. ' +
        '`json`: the whole report with daily equity and all trades as columns. ' +
        '`html`: the report as one page that opens without a network, with the candles around its fifty largest trades',
    }),
});

export const ExportLink = z
  .object({
    url: z.string().meta({
      description:
        'Address of the file: open it in a browser, or get it without a token. It may be relative to the address of the platform',
    }),
    file_name: z.string(),
    expires_at: Timestamp.meta({ description: 'End of the address; a new request gives a new one' }),
  })
  .meta({ id: 'ExportLink' });
export type ExportLink = z.infer<typeof ExportLink>;
