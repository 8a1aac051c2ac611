import type { ResponseOf } from '../../api/client.ts';

export type Job = ResponseOf<'getBacktest'>;
export type ReportData = ResponseOf<'getBacktestReport'>;
