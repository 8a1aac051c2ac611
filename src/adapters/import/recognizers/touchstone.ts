import { SIMULATED } from '#contract/values/names.ts';
import { isExchangeKey, tradingModeOf } from '#domain/shared/validate.ts';
import { decodeSymbol } from '../../parquet/keys.ts';
import { candles, type FileContent, isSymbol, notASymbol, other } from '../file-content.ts';
import type { Recognizer } from '../recognizer.ts';

/** `exchange=binanceusdm/symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet`; funding has no timeframe. */
const HIVE =
  /\/exchange=(?<exchange>[^/]+)\/symbol=(?<pair>[^/]+)(?:\/timeframe=(?<timeframe>[^/]+))?\/\d{4}-\d\d\.parquet$/;

/** Files as Touchstone stores them. */
export const touchstone: Recognizer = {
  name: 'Touchstone',
  recognize({ path }) {
    const groups = HIVE.exec(path)?.groups;
    return groups && contentOf(groups);
  },
};

function contentOf(groups: Readonly<Record<string, string | undefined>>): FileContent {
  const { exchange = '', pair = '', timeframe } = groups;
  if (exchange === SIMULATED) return other('candles of sim, the simulated market');
  if (!isExchangeKey(exchange)) return other(`${exchange} is not an exchange key such as binanceusdm`);
  const symbol = decoded(pair);
  if (symbol === undefined || !isSymbol(symbol)) return notASymbol(symbol ?? pair);
  const source = { symbol, format: 'Parquet', exchange } as const;
  if (timeframe !== undefined) return candles(source, timeframe);
  return tradingModeOf(symbol) === 'spot'
    ? other('funding rates of a spot pair, which has none')
    : { kind: 'events', ...source };
}

function decoded(pair: string): string | undefined {
  try {
    return decodeSymbol(pair);
  } catch {
    return undefined;
  }
}
