import { Health } from '../common.ts';
import { Instruments } from '../instrument.ts';
import {
  Collection,
  CollectionParams,
  CollectionRequest,
  DataStatus,
  ExchangeQuery,
  Freshness,
  FreshnessQuery,
  Ohlcv,
  OhlcvQuery,
  Symbols,
} from '../market-data.ts';
import type { Operation } from '../operation.ts';
import { documentationOperations } from './documentation.ts';

const MARKET_DATA = 'Market data';
const COLLECTIONS = 'Collections';

/** Rows of the data collection service. */
export const DATA_COLLECTION_OPERATIONS = [
  {
    id: 'getDataHealth',
    service: 'data_collection',
    method: 'GET',
    path: '/api/v1/health',
    tag: 'Health',
    summary: 'Health of the service and of what it depends on',
    success: { 200: { description: 'The service answers', schema: Health } },
    errors: [],
    access: 'public',
  },
  {
    id: 'getOhlcv',
    service: 'data_collection',
    method: 'GET',
    path: '/api/v1/ohlcv',
    tag: MARKET_DATA,
    summary: 'Stored candles of a symbol',
    query: OhlcvQuery,
    success: { 200: { description: 'Closed candles', schema: Ohlcv } },
    errors: ['VAL001', 'VAL002', 'VAL003', 'DATA003', 'DATA005'],
    access: 'viewer',
  },
  {
    id: 'listDataSymbols',
    service: 'data_collection',
    method: 'GET',
    path: '/api/v1/symbols',
    tag: MARKET_DATA,
    summary: 'Symbols with stored candles',
    query: ExchangeQuery,
    success: { 200: { description: 'Ascending', schema: Symbols } },
    errors: ['DATA005'],
    access: 'viewer',
  },
  {
    id: 'listInstruments',
    service: 'data_collection',
    method: 'GET',
    path: '/api/v1/instruments',
    tag: MARKET_DATA,
    summary: 'Amount steps, price ticks and order limits of the symbols',
    description:
      'Collected with the candles, each at most once a day; only the latest of a symbol is kept. A backtest with `precision` `exchange` follows them.',
    query: ExchangeQuery,
    success: { 200: { description: 'Ascending by symbol', schema: Instruments } },
    errors: ['DATA005'],
    access: 'viewer',
  },
  {
    id: 'getDataStatus',
    service: 'data_collection',
    method: 'GET',
    path: '/api/v1/status',
    tag: MARKET_DATA,
    summary: 'What is stored: range, count and gaps of every series',
    query: ExchangeQuery,
    success: { 200: { description: 'Ascending by symbol', schema: DataStatus } },
    errors: ['DATA005'],
    access: 'viewer',
  },
  {
    id: 'getDataFreshness',
    service: 'data_collection',
    method: 'GET',
    path: '/api/v1/freshness',
    tag: MARKET_DATA,
    summary: 'Whether the stored candles are new enough',
    description:
      'A symbol is fresh when its last closed candle is not older than the threshold. With `start` or `end` the stored range must cover them instead, as far as candles can exist.',
    query: FreshnessQuery,
    success: { 200: { description: 'Per symbol and for all', schema: Freshness } },
    errors: ['VAL001', 'VAL002', 'VAL003', 'DATA005'],
    access: 'viewer',
  },
  {
    id: 'startCollection',
    service: 'data_collection',
    method: 'POST',
    path: '/api/v1/collections',
    tag: COLLECTIONS,
    summary: 'Collect candles',
    description:
      'Stored candles are not fetched again. Collections run one after another; more than 20 unfinished ones are rejected. An accepted collection survives a restart: the next process resumes it.',
    body: CollectionRequest,
    success: { 201: { description: 'Accepted', schema: Collection } },
    errors: ['VAL001', 'VAL002', 'VAL003', 'VAL005', 'RES005', 'DATA005'],
    access: 'researcher',
    startsWork: true,
  },
  {
    id: 'getCollection',
    service: 'data_collection',
    method: 'GET',
    path: '/api/v1/collections/{collection_id}',
    tag: COLLECTIONS,
    summary: 'A collection and how far it is',
    description:
      '`pending` waits, for the first time or since its process ended; what it stored stays. `completed` and `failed` are final.',
    params: CollectionParams,
    success: { 200: { description: 'The collection', schema: Collection } },
    errors: ['COL001', 'DATA005'],
    access: 'viewer',
  },
  ...documentationOperations('data_collection', 'Data'),
] as const satisfies readonly Operation[];
