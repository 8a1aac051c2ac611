import { DataStore } from '../../callback-values.ts';
import type {
  AdjustmentLimits,
  CallbackContext,
  EntryLimits,
  LoopContext,
  ParameterValues,
  ReturnedSignals,
} from '../../strategy.ts';
import { setActivePair } from '../../strategy-errors.ts';
import { round8, roundHalfUp } from '../rules/decimals.ts';
import { limitLoss } from '../rules/margin.ts';
import { unrealizedProfit } from '../rules/money.ts';
import { type Direction, slippedExit } from '../rules/prices.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { SimulationCounters } from '../types.ts';
import { AccountAtOpen } from './account-at-open.ts';
import { CandleCursor } from './candle-cursor.ts';
import { CandlePath } from './candle-path.ts';
import { EquityRecorder } from './equity-curve.ts';
import { LoopView, NO_COLUMNS, NO_INFORMATIVE, NO_SIGNALS } from './loop-view.ts';
import type { Clock, Market } from './market.ts';
import type { SimulationMemory } from './memory.ts';
import type { PathRecorder } from './path-recorder.ts';
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
  /** What callbacks see of the account; null without callbacks. */
  declare readonly account: AccountAtOpen | null;
  /** Price that was last asked for as that of an entry or addition, before the candle limits it. */
  askedPrice = Number.NaN;
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
  /** False while both fill models have decided alike: the other one would then give the same trades. */
  dependsOnFillModel = false;
  /** Closed trades that took a slot or money which another one left later in the same candle, and their profit. */
  readonly freedLater = { entries: 0, profit: 0 };
  /** The present step of the clock. */
  step = 0;
  /** Step of the last candle of the delisted pairs that end next; the last step when no further one ends. */
  nextEnd = 0;
  /** Index of the present detail candle in its candle; 0 without detail candles. */
  detail = 0;
  /** null in the freqtrade model. */
  declare readonly path: CandlePath | null;
  /** Records the levels of each trade; null: they are not recorded. */
  paths: PathRecorder | null = null;
  #balanceAtOpen = Number.NaN;
  /** Open profit less maintenance margin of each trade at the open of the present candle; positions are reused for later trades. */
  #openValues: { readonly position: Position; readonly openedAt: number; readonly value: number }[] = [];
  readonly #context: Context;
  /** null without `loopStart`. */
  readonly #loop: LoopView | null;
  readonly #limits = new Limits(this);
  readonly #entryLimits = new LimitsOfEntry(this);
  /** Trades that were opened so far. */
  #opened = 0;
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
    this.dependsOnFillModel = settings.movesStop || settings.cross;
    this.clock = clock;
    this.path = settings.conservative ? new CandlePath(settings) : null;
    this.wallet = new Wallet(startingBalance, settings);
    const state = new DataStore();
    const hasCallbacks = Object.keys(settings.callbacks).length > 0;
    this.account = hasCallbacks ? new AccountAtOpen(this.wallet, this.candle, settings) : null;
    this.#context = new Context(this.candle, settings.params, state, this.account);
    this.#loop = settings.callbacks.loopStart ? new LoopView(clock, settings, state, this.account!) : null;
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

  /** Counts an entry signal without a free slot: once a candle, unless it takes one in another of its detail candles. */
  rejectSignal({ index }: Market): void {
    const slot = this.slots[index]!;
    if (slot.enteredStep === this.step || slot.rejectedStep === this.step) return;
    slot.rejectedStep = this.step;
    this.counters.rejectedSignals++;
  }

  /** Takes the slot of `market` for a position, whose entry is not ordered yet. */
  open(market: Market, direction: Direction, leverage: number): Position {
    this.recordEquity();
    const slot = this.slots[market.index]!;
    slot.enteredStep = this.step;
    if (slot.rejectedStep === this.step) {
      slot.rejectedStep = -1;
      this.counters.rejectedSignals--;
    }
    const position = this.settings.stacking ? new Position(market) : slot.pooledPosition;
    position.reset(direction, leverage, this.candle);
    position.ordinal = this.#opened++;
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
   * After each fill of a position in cross margin: what the account holds besides a position is its margin. Other positions count with
   * their maintenance margin at their entry price (docs/simulation.md#cross-margin); in the conservative model see {@link valueAccount}.
   */
  renewLiquidations(position: Position): void {
    if (this.settings.conservative) {
      this.liquidateByAccount(position);
      return;
    }
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

  /**
   * Cross margin of the conservative model, before the first position of each candle: other positions count as at its open, with their
   * open profit less their maintenance margin. What happens to them inside the candle counts from the next one on. False in other runs.
   */
  valueAccount(): boolean {
    const { settings, wallet } = this;
    if (!settings.cross || !settings.conservative) return false;
    const filled = wallet.positions.filter(({ order }) => order.kind !== 'entry');
    this.#balanceAtOpen = wallet.balance;
    this.#openValues = filled.map((position) => {
      const { market, amount, direction, openedAt } = position;
      const price = this.#openOf(market);
      const profit = unrealizedProfit(amount, price, position.openValue, position.openFunding, direction);
      return { position, openedAt, value: profit - market.margin.maintenanceOf(amount * price) };
    });
    return true;
  }

  /** Sets the liquidation price of a filled position in cross margin of the conservative model. */
  liquidateByAccount(position: Position): void {
    if (this.settings.cross) position.setLiquidation(this.marginOf(position), this.settings);
  }

  /** Cross margin of a position in the present candle of the conservative model; NaN without it. */
  marginOf(position: Position): number {
    if (!this.settings.cross) return Number.NaN;
    let margin = this.#balanceAtOpen;
    for (const { position: other, openedAt, value } of this.#openValues)
      if (other !== position || openedAt !== position.openedAt) margin += value;
    return margin;
  }

  /** Open of a pair's present candle; the last close after the end of its data. */
  #openOf({ index, offset, length, candles, input }: Market): number {
    const row = this.step - offset;
    if (row >= length) return candles.close[length - 1]!;
    const { detailIndex, detailCount } = this.slots[index]!;
    return this.detail > 0 && detailIndex >= 0
      ? input.detail!.open[detailIndex + Math.min(this.detail, detailCount - 1)]!
      : candles.open[row]!;
  }

  /** The price at which the exit order of a position at `price` is filled: worse by the slippage, and limited by what it may lose. */
  exitPriceOf(position: Position, price = position.order.price): number {
    const { order, direction, market } = position;
    const { settings } = this;
    const slipped =
      order.slips && market.costs.slips
        ? slippedExit(price, market.costs.rate(this.candle.time, order.amount), direction)
        : price;
    if (!position.hasMargin(settings)) return slipped;
    const account = settings.cross ? this.wallet.balance : null;
    return limitLoss(slipped, order.amount, position, account, settings.fee);
  }

  /** Fills the exit order of a position in the present candle: closes the position, or reduces it if the order is for a part. */
  bookExit(position: Position, leftOpen = false): void {
    this.paths?.record(position, this.candle);
    const { price, amount } = position.order;
    const { stake } = position;
    const filled = this.exitPriceOf(position);
    // A limited loss is better than the price of the order: no slippage.
    position.slippageCost += amount * Math.max(0, position.direction * (price - filled));
    if (position.order.gapTime === this.candle.time) this.#measureGap(position, filled);
    if (position.market.costs.isLimited) position.market.costs.countFill(amount, this.candle.row);
    this.recordEquity();
    if (this.account !== null && !position.order.isKnownAtOpen) this.account.keep(position);
    const isWhole = amount >= position.amount;
    const profit = isWhole ? this.#close(position, filled, leftOpen) : this.#reduce(position, filled);
    this.wallet.book(profit);
    if (this.account !== null) this.account.noteExit(position, profit, isWhole);
    position.endedInside = !position.order.atOpen;
    if (position.endedInside)
      this.#freeLater(isWhole ? 1 : 0, isWhole ? stake : stake - position.stake, profit);
    if (this.settings.cross && !leftOpen) this.renewLiquidations(position);
    this.protections?.afterExit(position.market, position.direction, this.candle.time);
  }

  /** A stop or liquidation that the candle's open has passed is filled at a better price than that. */
  #measureGap(position: Position, filled: number): void {
    const { direction, order, tick } = position;
    const atOpen = this.exitPriceOf(position, roundHalfUp(this.candle.open, tick));
    position.gapProfit += order.amount * (filled - atOpen) * (direction - this.settings.fee);
  }

  /** Records the trade, closed at the price `filled`, and returns the profit of its last exit. */
  #close(position: Position, filled: number, leftOpen: boolean): number {
    position.exitPrice = filled;
    if (position.history !== null) position.recordExit(filled, this.candle, this.settings);
    const profit = this.trades.add(position, this.candle, leftOpen);
    if (position.usesFreedLater) {
      this.freedLater.entries++;
      this.freedLater.profit += profit + (position.history?.realizedProfit ?? 0);
    }
    this.remove(position);
    return profit;
  }

  /** Records a partial exit at the price `filled`, and returns its profit. */
  #reduce(position: Position, filled: number): number {
    const profit = position.reduce(filled, this.candle, this.settings);
    this.trades.partialExits.push({ time: this.candle.time, profit });
    return profit;
  }

  /** True if trades that ended inside the present candle have left something: the fill models then differ on what is free. */
  seesFreedLater(): boolean {
    if (!this.wallet.freedLater.read(this.candle.time)) return false;
    this.dependsOnFillModel = true;
    return true;
  }

  /** Quote currency for an addition in the present candle. */
  available(): number {
    const { wallet, settings } = this;
    return this.seesFreedLater() && settings.conservative ? this.#availableAtOpen() : wallet.available();
  }

  /** Quote currency for orders without what trades that end inside the present candle leave. */
  #availableAtOpen(): number {
    const { wallet } = this;
    const { collateral, profit } = wallet.freedLater;
    return wallet.available(wallet.collateral() + collateral, profit);
  }

  /** True in the freqtrade model if an order of `stake` has money only because a trade ended inside the present candle. */
  needsFreedLater(stake: number): boolean {
    if (this.settings.conservative || !this.seesFreedLater()) return false;
    return round8(stake) > round8(this.#availableAtOpen());
  }

  #freeLater(slots: number, collateral: number, profit: number): void {
    const { timeframeMs, detailTimeframeMs } = this.settings;
    const { time, isDetail } = this.candle;
    const end = time + (isDetail ? detailTimeframeMs : timeframeMs);
    this.wallet.freedLater.add(end, isDetail, slots, collateral, profit);
  }

  /** The limits of an adjustment of `position` in the present candle. */
  limitsOf(position: Position): AdjustmentLimits {
    Limits.move(this.#limits, position);
    return this.#limits;
  }

  /** The limits of an entry in `market` at the price that was asked for last. */
  entryLimitsOf(market: Market, leverage: number): EntryLimits {
    LimitsOfEntry.move(this.#entryLimits, market, leverage);
    return this.#entryLimits;
  }

  /** The context of `loopStart` in the main candle of `step`. */
  loopContext(step: number): LoopContext {
    return this.#loop!.moveTo(step);
  }

  /** The callback context of `market`, and of its trade `position`, in the present candle. */
  contextOf(market: Market, position: Position | null = null): CallbackContext {
    this.#context.selectMarket(market, position);
    return this.#context;
  }
}

/** The limits of an adjustment in the present candle, reused for every call. They are computed only when they are read. */
export class Limits implements AdjustmentLimits {
  readonly #run: Run;
  #position: Position | null = null;

  constructor(run: Run) {
    this.#run = run;
  }

  /** No field of the object, which the strategy gets: it would lead to the position. */
  static move(limits: Limits, position: Position): void {
    limits.#position = position;
  }

  get minStake() {
    return this.#position!.market.orderRules?.minRest(this.#run.candle.open) ?? 0;
  }
  get maxStake() {
    const { candle } = this.#run;
    const available = this.#run.available();
    const { orderRules } = this.#position!.market;
    return orderRules === null ? available : Math.min(orderRules.maxStake(candle.open, 1), available);
  }
}

/** The limits of an entry, reused for every call. They are those of the candle's open, and computed only when they are read. */
class LimitsOfEntry implements EntryLimits {
  readonly #run: Run;
  #market: Market | null = null;
  #leverage = Number.NaN;

  constructor(run: Run) {
    this.#run = run;
  }

  static move(limits: LimitsOfEntry, market: Market, leverage: number): void {
    limits.#market = market;
    limits.#leverage = leverage;
  }

  get minStake() {
    return this.#market!.orderRules?.minEntry(this.#run.askedPrice, this.#leverage) ?? 0;
  }
  get maxStake() {
    const { account, candle, askedPrice } = this.#run;
    const { orderRules } = this.#market!;
    const available = Math.max(0, account!.availableAt(candle.time));
    return orderRules === null
      ? available
      : Math.min(orderRules.maxStake(askedPrice, this.#leverage), available);
  }
}

/** The callbacks' view of the present candle, reused for every call. */
export class Context implements CallbackContext {
  readonly params: ParameterValues;
  readonly state: DataStore;
  readonly #candle: CandleCursor;
  readonly #account: AccountAtOpen | null;
  #market: Market | null = null;
  #position: Position | null = null;

  constructor(
    candle: CandleCursor,
    params: ParameterValues,
    state: DataStore,
    account: AccountAtOpen | null,
  ) {
    this.#candle = candle;
    this.params = params;
    this.state = state;
    this.#account = account;
  }

  selectMarket(market: Market, position: Position | null): void {
    this.#position = position;
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
    return this.#market!.seen;
  }
  get columns() {
    return this.#market!.input.columns ?? NO_COLUMNS;
  }
  get informative() {
    return this.#market!.input.informative ?? NO_INFORMATIVE;
  }
  get signals(): ReturnedSignals {
    return this.#market!.input.returned ?? NO_SIGNALS;
  }
  get fee() {
    return this.#account!.fee;
  }
  get wallet() {
    return this.#account!.walletAt(this.time);
  }
  get openTrades() {
    return this.#account!.openTradesAt(this.time);
  }
  get enterTag() {
    return this.#position === null ? this.#market!.enterTag(this.index) : this.#position.view.enterTag;
  }
}
