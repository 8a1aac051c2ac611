import * as z from 'zod';

/** The report-data resource: the report with one page of the trades. */
export const BacktestReportData = z
  .looseObject({
    trades: z.object({
      items: z.array(z.looseObject({})).meta({ description: 'In the order of closing' }),
      page: z.int(),
      pages: z.int(),
      total: z.int(),
    }),
  })
  .meta({ id: 'BacktestReportData' });
