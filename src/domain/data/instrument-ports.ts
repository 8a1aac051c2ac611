import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';

/** Instruments as they were collected last, by symbol. Every method may throw CodedError DATA005 when storage is down. */
export interface InstrumentStore {
  /** Instruments by symbol. Symbols without a stored instrument are absent. */
  getMany(exchange: string, symbols: readonly string[]): Promise<ReadonlyMap<string, InstrumentRecord>>;
  /** All of an exchange, ascending by symbol. */
  list(exchange: string): Promise<ReadonlyMap<string, InstrumentRecord>>;
  /** Stores the instrument of a symbol, in place of an earlier one. */
  record(exchange: string, symbol: string, record: InstrumentRecord): Promise<void>;
}
