import type { InstrumentRecord } from '#contract/instrument.ts';
import type { InstrumentStore } from '../instrument-ports.ts';

export interface InstrumentList {
  readonly exchange: string;
  /** Ascending by symbol. */
  readonly instruments: readonly (InstrumentRecord & { readonly symbol: string })[];
  readonly count: number;
}

/** Instruments as they were collected last. Throws DATA005. */
export async function listInstruments(
  deps: { readonly instruments: InstrumentStore },
  exchange: string,
): Promise<InstrumentList> {
  const stored = await deps.instruments.list(exchange);
  const instruments = [...stored].map(([symbol, record]) => ({ symbol, ...record }));
  return { exchange, instruments, count: instruments.length };
}
