import type { DataStore } from '../../callback-values.ts';
import type {
  CallbackContext,
  Columns,
  LoopContext,
  ParameterValues,
  ReturnedSignals,
} from '../../strategy.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { AccountAtOpen } from './account-at-open.ts';
import type { Clock, Market } from './market.ts';

export const NO_COLUMNS: Columns = Object.freeze({});
export const NO_SIGNALS: ReturnedSignals = Object.freeze({});
export const NO_INFORMATIVE: CallbackContext['informative'] = Object.freeze({});

/** The context of `loopStart`, reused for every candle. */
export class LoopView implements LoopContext {
  time = Number.NaN;
  pairs: readonly CallbackContext[] = [];
  readonly params: ParameterValues;
  readonly state: DataStore;
  readonly #clock: Clock;
  readonly #timeframeMs: number;
  readonly #all: readonly PairRow[];

  readonly #account: AccountAtOpen;

  constructor(
    clock: Clock,
    { timeframeMs, params }: ResolvedSettings,
    state: DataStore,
    account: AccountAtOpen,
  ) {
    this.#clock = clock;
    this.#timeframeMs = timeframeMs;
    this.params = params;
    this.state = state;
    this.#account = account;
    this.#all = clock.markets.map((market) => new PairRow(market, params, state, account));
  }

  get fee() {
    return this.#account.fee;
  }
  get wallet() {
    return this.#account.walletAt(this.time);
  }
  get openTrades() {
    return this.#account.openTradesAt(this.time);
  }

  /** Moves to the main candle of `step`. */
  moveTo(step: number): this {
    this.time = this.#clock.start + step * this.#timeframeMs;
    for (const row of this.#all) row.moveTo(step, this.time);
    this.pairs = this.#all.filter(({ isTraded }) => isTraded);
    return this;
  }
}

/** The row of one pair. */
export class PairRow implements CallbackContext {
  time = Number.NaN;
  index = 0;
  readonly pair: string;
  readonly candles: CallbackContext['candles'];
  readonly columns: Columns;
  readonly informative: CallbackContext['informative'];
  readonly params: ParameterValues;
  readonly state: DataStore;
  readonly signals: ReturnedSignals;
  readonly fee: number;
  readonly #market: Market;
  readonly #account: AccountAtOpen;

  constructor(market: Market, params: ParameterValues, state: DataStore, account: AccountAtOpen) {
    this.#market = market;
    this.#account = account;
    this.signals = market.input.returned ?? NO_SIGNALS;
    this.fee = account.fee;
    this.pair = market.input.pair;
    this.candles = market.seen;
    this.columns = market.input.columns ?? NO_COLUMNS;
    this.informative = market.input.informative ?? NO_INFORMATIVE;
    this.params = params;
    this.state = state;
  }

  moveTo(step: number, time: number): void {
    this.index = step - this.#market.offset;
    this.time = time;
  }

  get wallet() {
    return this.#account.walletAt(this.time);
  }
  get openTrades() {
    return this.#account.openTradesAt(this.time);
  }
  get enterTag() {
    return this.#account.enterTagAt(this.#market, this.index, this.time);
  }

  /** False in a pair's first candle, before it and after its last one. */
  get isTraded(): boolean {
    return this.index >= 1 && this.index < this.#market.length;
  }
}
