import { DataStore } from '../../callback-values.ts';
import type { AdjustmentLimits, CallbackContext, LoopContext, ParameterValues } from '../../strategy.ts';
import { setActivePair } from '../../strategy-errors.ts';
import { type Direction, slippedExit } from '../rules/prices.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { SimulationCounters } from '../types.ts';
import { CandleCursor } from './candle-cursor.ts';
import { EquityRecorder } from './equity-curve.ts';
import { LoopView, NO_COLUMNS, NO_INFORMATIVE } from './loop-view.ts';
import type { Clock, Market } from './market.ts';
import type { SimulationMemory } from './memory.ts';
import { Position } from './position.ts';
import { Protections } from './protections.ts';
import { Slot } from './slot.ts';
import { TradeRecorder } from './trade-recorder.ts';
import { Wallet } from './wallet.ts';

/** State of one simulation. */
export class Run {
  declare readonly settings: ResolvedSettings;
  declare readonly clock: Clock;
  declare readonly wallet: Wallet;
  /** One for each market, at its index. */
  declare readonly slots: readonly Slot[];
  declare readonly trades: TradeRecorder;
  /** null without an equity curve. */
  declare readonly equity: EquityRecorder | null;
  /** null without protections. */
  declare readonly protections: Protections | null;
  readonly candle = new CandleCursor();
  /** Slots to simulate in the present step; reused. */
  readonly active: Slot[] = [];
  readonly counters: { -readonly [K in keyof SimulationCounters]: number } = {
    rejectedSignals: 0,
    timedOutEntries: 0,
    timedOutExits: 0,
    cancelledEntries: 0,
    replacedEntries: 0,
    cancelledExits: 0,
    replacedExits: 0,
  };
  /**
   * False while both fill models have decided alike: the other one would then give the same trades. They differ where a stop
   * moves, and where a candle opens beyond a stop or liquidation that it has not left behind entirely.
   */
  dependsOnFillModel = false;
  /** The present step of the clock. */
  step = 0;
  /** Step of the last candle of the delisted pairs that end next; the last step when no further one ends. */
  nextEnd = 0;
  /** Index of the present detail candle in its candle; 0 without detail candles. */
  detail = 0;
  readonly #context: Context;
  /** null without `loopStart`. */
  readonly #loop: LoopView | null;
  readonly #limits = new Limits(this);
  /** Delisted pairs that have not ended, the next one last. */
  readonly #delisted: Market[];

  constructor(
    settings: ResolvedSettings,
    clock: Clock,
    startingBalance: number,
    withEquity: boolean,
    memory: SimulationMemory,
  ) {
    this.settings = settings;
    this.dependsOnFillModel = settings.movesStop;
    this.clock = clock;
    this.wallet = new Wallet(startingBalance, settings);
    const state = new DataStore();
    this.#context = new Context(this.candle, settings.params, state);
    this.#loop = settings.callbacks.loopStart
      ? new LoopView(clock, settings.timeframeMs, settings.params, state)
      : null;
    this.slots = clock.markets.map((market) => new Slot(market));
    this.#delisted = clock.markets
      .filter(({ haircut }) => haircut !== null)
      .sort((a, b) => b.lastStep - a.lastStep);
    this.nextEnd = this.#delisted.at(-1)?.lastStep ?? clock.steps;
    this.trades = new TradeRecorder(settings.fee, clock.markets, memory);
    this.protections =
      settings.protections.length > 0 ? new Protections(settings, startingBalance, this.trades) : null;
    this.equity = withEquity
      ? new EquityRecorder(clock, settings.timeframeMs, this.wallet, this.trades, memory)
      : null;
  }

  /** Moves to `nextEnd`, and that to the next one. Returns the delisted pairs that end there. */
  takeDelisted(): Market[] {
    const ended: Market[] = [];
    while (this.#delisted.at(-1)?.lastStep === this.nextEnd) ended.push(this.#delisted.pop()!);
    if (ended.length > 0) this.step = this.nextEnd;
    this.nextEnd = this.#delisted.at(-1)?.lastStep ?? this.clock.steps;
    return ended;
  }

  /** Must precede every change of the account: records the equity of the steps before the present one. */
  recordEquity(): void {
    this.equity?.record(this.step);
  }

  /** Takes the slot of `market` for a position, whose entry is not ordered yet. */
  open(market: Market, direction: Direction, leverage: number): Position {
    this.recordEquity();
    const slot = this.slots[market.index]!;
    const position = this.settings.stacking ? new Position(market) : slot.pooledPosition;
    position.reset(direction, leverage, this.candle);
    this.wallet.positions.push(position);
    slot.position = position;
    return position;
  }

  /** Frees the slot of a position: after its exit is recorded, or without a trade when its entry never filled. */
  remove(position: Position): void {
    this.recordEquity();
    const { positions } = this.wallet;
    // `splice` allocates.
    if (positions.at(-1) === position) positions.pop();
    else positions.splice(positions.indexOf(position), 1);
    position.isOpen = false;
    const slot = this.slots[position.market.index]!;
    slot.position = this.settings.stacking ? this.#otherOf(position) : null;
  }

  /** Another trade of the same pair, the last one that was opened. */
  #otherOf({ market }: Position): Position | null {
    return this.wallet.positions.findLast((each) => each.market === market) ?? null;
  }

  /** True if an entry signal may act in the present candle. */
  get mayEnter(): boolean {
    return this.step < this.clock.steps && this.detail < this.settings.entryCandles;
  }

  /**
   * After each fill in cross margin: what the account holds besides a position is its margin. Other positions count with their
   * maintenance margin at their entry price (docs/simulation.md#cross-margin).
   */
  renewLiquidations(): void {
    const filled = this.wallet.positions.filter(({ order }) => order.kind !== 'entry');
    const maintenance = filled.map(({ market, amount, entryPrice }) =>
      market.margin.maintenanceOf(amount * entryPrice),
    );
    for (const [index, position] of filled.entries()) {
      let others = 0;
      for (const [other, required] of maintenance.entries()) if (other !== index) others += required;
      position.setLiquidation(this.wallet.balance - others, this.settings);
    }
  }

  /** The price at which the exit order of a position is filled: its own, or a worse one by the slippage. */
  exitPriceOf({ order, direction, market }: Position): number {
    return order.slips && market.costs.slips
      ? slippedExit(order.price, market.costs.rate(this.candle.time, order.amount), direction)
      : order.price;
  }

  /** Fills the exit order of a position in the present candle: closes the position, or reduces it if the order is for a part. */
  bookExit(position: Position, leftOpen = false): void {
    const { price, amount } = position.order;
    const filled = this.exitPriceOf(position);
    position.slippageCost += amount * Math.abs(price - filled);
    if (position.market.costs.isLimited) position.market.costs.countFill(amount, this.candle.row);
    this.recordEquity();
    if (amount < position.amount) this.#reduce(position, filled);
    else {
      position.exitPrice = filled;
      if (position.history !== null) position.recordExit(filled, this.candle, this.settings);
      this.wallet.book(this.trades.add(position, this.candle, leftOpen));
      this.remove(position);
    }
    if (this.settings.cross && !leftOpen) this.renewLiquidations();
    this.protections?.afterExit(position.market, position.direction, this.candle.time);
  }

  /** Books a partial exit at the price `filled`. */
  #reduce(position: Position, filled: number): void {
    const profit = position.reduce(filled, this.candle, this.settings);
    this.wallet.book(profit);
    this.trades.partialExits.push({ time: this.candle.time, profit });
  }

  /** The limits of an adjustment of `position` in the present candle. */
  limitsOf(position: Position): AdjustmentLimits {
    this.#limits.position = position;
    return this.#limits;
  }

  /** The context of `loopStart` in the main candle of `step`. */
  loopContext(step: number): LoopContext {
    return this.#loop!.moveTo(step);
  }

  /** The callback context of `market` in the present candle. */
  contextOf(market: Market): CallbackContext {
    this.#context.selectMarket(market);
    return this.#context;
  }
}

/** The limits of an adjustment in the present candle, reused for every call. They are computed only when they are read. */
class Limits implements AdjustmentLimits {
  readonly #run: Run;
  position: Position | null = null;

  constructor(run: Run) {
    this.#run = run;
  }

  get minStake() {
    return this.position!.market.orderRules?.minRest(this.#run.candle.open) ?? 0;
  }
  get maxStake() {
    const { candle, wallet } = this.#run;
    const available = wallet.available();
    const { orderRules } = this.position!.market;
    return orderRules === null ? available : Math.min(orderRules.maxStake(candle.open, 1), available);
  }
}

/** The callbacks' view of the present candle, reused for every call. */
class Context implements CallbackContext {
  readonly params: ParameterValues;
  readonly state: DataStore;
  readonly #candle: CandleCursor;
  #market: Market | null = null;

  constructor(candle: CandleCursor, params: ParameterValues, state: DataStore) {
    this.#candle = candle;
    this.params = params;
    this.state = state;
  }

  selectMarket(market: Market): void {
    if (this.#market === market) return;
    this.#market = market;
    setActivePair(market.index);
  }
  get time() {
    return this.#candle.time;
  }
  get index() {
    return this.#candle.row;
  }
  get pair() {
    return this.#market!.input.pair;
  }
  get candles() {
    return this.#market!.candles;
  }
  get columns() {
    return this.#market!.input.columns ?? NO_COLUMNS;
  }
  get informative() {
    return this.#market!.input.informative ?? NO_INFORMATIVE;
  }
}
