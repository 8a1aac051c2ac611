import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Instrument, LeverageTier } from '#engine/instrument.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { Exchange } from './exchange-ports.ts';
import type { InstrumentStore } from './instrument-ports.ts';

export interface InstrumentDeps {
  readonly instruments: InstrumentStore;
  readonly clock: Clock;
}

/** Older instruments are fetched again. */
const MAX_AGE_MS = DAY_MS;

/** The instruments of one collection: those that are missing or old. */
export class InstrumentCollector {
  readonly #deps: InstrumentDeps;
  readonly #exchange: Exchange;
  readonly #wanted: Set<string>;
  readonly #stored: ReadonlyMap<string, InstrumentRecord>;
  /** First failure of the exchange. The other symbols are then skipped: each would take as long to fail. */
  #failed: CodedError | undefined;

  private constructor(
    deps: InstrumentDeps,
    exchange: Exchange,
    wanted: Set<string>,
    stored: ReadonlyMap<string, InstrumentRecord>,
  ) {
    this.#deps = deps;
    this.#exchange = exchange;
    this.#wanted = wanted;
    this.#stored = stored;
  }

  /** Throws DATA005. */
  static async open(
    deps: InstrumentDeps,
    exchange: Exchange,
    symbols: readonly string[],
  ): Promise<InstrumentCollector> {
    const stored = await deps.instruments.getMany(exchange.name, symbols);
    const oldest = deps.clock.now() - MAX_AGE_MS;
    const isRecent = ({ collected_at }: InstrumentRecord) => Date.parse(collected_at) > oldest;
    const wanted = symbols.filter((symbol) => !stored.has(symbol) || !isRecent(stored.get(symbol)!));
    return new InstrumentCollector(deps, exchange, new Set(wanted), stored);
  }

  /**
   * Fetches and stores the instrument of a symbol if it is wanted. Returns the error when it could not be fetched:
   * candles are collected without it, and a stored instrument is kept. Throws DATA005, and the signal's reason when
   * aborted.
   */
  async collect(symbol: string, signal?: AbortSignal): Promise<CodedError | null> {
    if (!this.#wanted.has(symbol)) return null;
    if (this.#failed) return this.#failed;
    const { clock, instruments } = this.#deps;
    try {
      const instrument = await this.#exchange.fetchInstrument(symbol, signal);
      if (!instrument) return null;
      const record = recordOf(instrument, isoTime(clock.now()), this.#stored.get(symbol));
      await instruments.record(this.#exchange.name, symbol, record);
      return null;
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      if (error.code === 'DATA005') throw error;
      if (error.code === 'DATA004') this.#failed = error;
      return error;
    }
  }
}

/** Leverage tiers that are stored stay where the exchange gives none. */
function recordOf(
  instrument: Instrument,
  collected_at: string,
  stored: InstrumentRecord | undefined,
): InstrumentRecord {
  const tiers = instrument.leverageTiers
    ? tiersRecord(instrument.leverageTiers, 'exchange', collected_at)
    : stored?.leverage_tiers;
  return {
    amount_step: instrument.amountStep,
    min_amount: instrument.minAmount,
    max_amount: instrument.maxAmount,
    min_cost: instrument.minCost,
    max_cost: instrument.maxCost,
    contract_size: instrument.contractSize,
    price_tick: instrument.priceTick,
    collected_at,
    ...(tiers && { leverage_tiers: tiers }),
  };
}

/** Leverage tiers as they are stored. */
export function tiersRecord(
  tiers: readonly LeverageTier[],
  source: 'exchange' | 'import',
  at: string,
): NonNullable<InstrumentRecord['leverage_tiers']> {
  return {
    source,
    at,
    tiers: tiers.map((tier) => ({
      min_notional: tier.minNotional,
      max_notional: tier.maxNotional,
      max_leverage: tier.maxLeverage,
      maintenance_rate: tier.maintenanceRate,
      maintenance_amount: tier.maintenanceAmount,
    })),
  };
}

/** The record as the engine reads it. */
export function instrumentOf(record: InstrumentRecord): Instrument {
  return {
    amountStep: record.amount_step,
    minAmount: record.min_amount,
    maxAmount: record.max_amount,
    minCost: record.min_cost,
    maxCost: record.max_cost,
    contractSize: record.contract_size,
    priceTick: record.price_tick,
    ...(record.leverage_tiers && {
      tiersSource: record.leverage_tiers.source,
      leverageTiers: record.leverage_tiers.tiers.map((tier) => ({
        minNotional: tier.min_notional,
        maxNotional: tier.max_notional,
        maxLeverage: tier.max_leverage,
        maintenanceRate: tier.maintenance_rate,
        maintenanceAmount: tier.maintenance_amount,
      })),
    }),
  };
}
