import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';

/** An instrument with the time from which it is known to be valid, until the next one of its symbol. */
export interface DatedInstrument {
  readonly symbol: string;
  /** ISO 8601. */
  readonly valid_from: string;
  readonly record: InstrumentRecord;
}

/** Instruments as they were collected last, by symbol. Every method may throw CodedError DATA005 when storage is down. */
export interface InstrumentStore {
  /** Instruments by symbol. Symbols without a stored instrument are absent. */
  getMany(exchange: string, symbols: readonly string[]): Promise<ReadonlyMap<string, InstrumentRecord>>;
  /** All of an exchange, ascending by symbol. */
  list(exchange: string): Promise<ReadonlyMap<string, InstrumentRecord>>;
  /** All that were ever valid of an exchange, or of one symbol, ascending by symbol and time. */
  history(exchange: string, symbol?: string): Promise<readonly DatedInstrument[]>;
  /** Stores the current instrument of a symbol. One with other rules is added to the history, where nothing is replaced. */
  record(exchange: string, symbol: string, record: InstrumentRecord): Promise<void>;
}
