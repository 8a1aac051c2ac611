import * as z from 'zod';

/** Order limits and price steps of a symbol on an exchange. */

const positive = (description: string) => z.number().positive().meta({ description });
const known = (description: string) =>
  positive(description)
    .nullable()
    .meta({ description: `${description}; null where the exchange names none` });

export const InstrumentRecord = z.object({
  amount_step: known('Amounts are integer multiples of it, contracts'),
  min_amount: known('Minimum amount of an order, contracts'),
  max_amount: known('Maximum amount of an order, contracts'),
  min_cost: known('Minimum of amount times price of an order, contracts times quote currency'),
  max_cost: known('Maximum of amount times price of an order, contracts times quote currency'),
  contract_size: positive('Base currency of one contract; 1 where amounts are in base currency'),
  price_tick: known('Prices are integer multiples of it, quote currency'),
  collected_at: z.iso.datetime().meta({ description: 'Time of the request to the exchange, ISO 8601, UTC' }),
});
export type InstrumentRecord = z.infer<typeof InstrumentRecord>;

/** Instrument of a symbol in the Series table, one JSON text; test/contract pins the hash of this shape. */
export const StoredInstrument = InstrumentRecord.extend({ schema_version: z.literal(1) });
export type StoredInstrument = z.infer<typeof StoredInstrument>;

export const Instruments = z
  .object({
    exchange: z.string(),
    instruments: z.array(
      InstrumentRecord.extend({ symbol: z.string() }).meta({
        id: 'Instrument',
        description: 'Current rules of one market. Earlier ones are not stored',
      }),
    ),
    count: z.int(),
  })
  .meta({ id: 'Instruments', description: 'Instruments collected from an exchange' });
export type Instruments = z.output<typeof Instruments>;
