import { createContext, useContext } from 'react';
import type { Order } from '../../ui/table.tsx';
import { natural, oneOf, present, type Raw, text } from '../../ui/url.ts';

/** Tables of the report by their name in the URL. */
export const TABLES = ['pair', 'tag', 'reason', 'tag-reason', 'side', 'month', 'weekday', 'year'] as const;
export type TableName = (typeof TABLES)[number];
const SIDES = ['long', 'short'] as const;
type Side = (typeof SIDES)[number];

/** State of the report, which the URL of the page keeps. An absent field has its default. */
export interface ReportSearch {
  /** Number of the selected trade. */
  readonly trade?: number;
  /** Shown table. Default: pair. */
  readonly table?: TableName;
  /** Order of the shown table: a column, with `-` in front for descending. */
  readonly by?: string;
  /** Pair of the candles. Default: that of the selected trade, else the first. */
  readonly chart?: string;
  /** Equity of every candle instead of every day. */
  readonly candles?: true;
  /** Market curve next to the equity. */
  readonly market?: true;
  /** Filters of the trades. */
  readonly pair?: string;
  readonly side?: Side;
  readonly reason?: string;
  readonly tag?: string;
  /** Order of the trades, as `by`. */
  readonly sort?: string;
}

/** Fields of the URL that are valid; others are ignored. */
export function readSearch(raw: Raw): ReportSearch {
  return present({
    trade: natural(raw.trade),
    table: oneOf(TABLES, raw.table),
    by: text(raw.by),
    chart: text(raw.chart),
    candles: raw.candles === true ? (true as const) : undefined,
    market: raw.market === true ? (true as const) : undefined,
    pair: text(raw.pair),
    side: oneOf(SIDES, raw.side),
    reason: text(raw.reason),
    tag: text(raw.tag),
    sort: text(raw.sort),
  });
}

/** Fields to change; undefined removes one. */
export type SearchChange = { readonly [K in keyof ReportSearch]?: ReportSearch[K] | undefined };

/** State of the report, and a stable function that changes some of its fields. */
export type ReportState = readonly [ReportSearch, (change: SearchChange) => void];

/** Where the parts of the report keep their state. */
export const ReportStateContext = createContext<ReportState>([{}, () => {}]);

export function useReportSearch(): ReportState {
  return useContext(ReportStateContext);
}

/** Order of a table as text of the URL. */
export function orderText({ key, isDescending }: Order): string {
  return `${isDescending ? '-' : ''}${key}`;
}

export function orderOf(text: string | undefined): Order | undefined {
  if (text === undefined) return undefined;
  return text.startsWith('-')
    ? { key: text.slice(1), isDescending: true }
    : { key: text, isDescending: false };
}
