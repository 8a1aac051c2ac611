import type { BrokenStrategyFile } from '#contract/config/strategy.ts';
import type { DefinitionData } from '#engine/definitions/validate-definition.ts';
import type { Startup } from '#engine/startup.ts';

/** Parameter values by name. */
type Parameters = Readonly<Record<string, number | string | boolean>>;

/** A usable strategy: its definition as data, and the one function that the platform calls. */
export interface KnownStrategy {
  readonly definition: DefinitionData;
  /** sha-256 of the strategy's source, hex; for a built-in strategy of its name and the engine version. */
  readonly digest: string;
  /** Startup candles for the default parameters. */
  readonly defaultStartup: Startup;
  /**
   * Startup candles for some parameters, integers from 0 to 1,000,000.
   * Throws CodedError VAL006 (field `config.params`) when the strategy throws, or does not return such a number in time.
   */
  startupCandles(params: Parameters): Promise<Startup>;
}

export interface StrategyList {
  /** Ascending by name. */
  readonly strategies: readonly KnownStrategy[];
  /** Ascending by file. */
  readonly broken: readonly BrokenStrategyFile[];
}

/** Strategies of a host. If they are files, each call sees all files written before it. */
export interface Strategies {
  /** Undefined when no usable strategy has the name. */
  find(name: string): Promise<KnownStrategy | undefined>;
  list(): Promise<StrategyList>;
}
