import type { InstrumentRecord } from '#contract/stored-market-data.ts';

/** Instruments as they were collected last, by symbol. Every method may throw CodedError DATA005 when storage is down. */
export interface InstrumentStore {
  /** Symbols without one are absent. */
  getMany(exchange: string, symbols: readonly string[]): Promise<ReadonlyMap<string, InstrumentRecord>>;
  /** All of an exchange, ascending by symbol. */
  list(exchange: string): Promise<ReadonlyMap<string, InstrumentRecord>>;
  /** Replaces the symbol's. */
  record(exchange: string, symbol: string, record: InstrumentRecord): Promise<void>;
}
