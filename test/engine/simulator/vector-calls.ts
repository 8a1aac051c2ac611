import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { CallbackContext, OrderView, StrategyCallbacks } from '#engine/strategy.ts';

/** A call as the scenarios list them: callback, pair, row, arguments. */
export type ListedCall = readonly [string, string, string, Readonly<Record<string, unknown>>];

/** Callbacks whose calls are listed. */
const LISTED = ['adjust_entry_price', 'adjust_exit_price', 'adjust_trade_position', 'order_filled'];

/** The calls among those of a scenario that {@link listingCalls} lists too. */
export function comparedCalls(calls: readonly ListedCall[] = []): readonly ListedCall[] {
  return calls.filter(([name]) => LISTED.includes(name));
}

/** The settings with callbacks that list their calls in `calls`; `orderFilled` is added. */
export function listingCalls(settings: SimulationSettings, calls: ListedCall[]): SimulationSettings {
  const { callbacks = {} } = settings;
  const { adjustEntryPrice, adjustExitPrice, adjustPosition } = callbacks;
  const list = (name: string, { pair, index }: CallbackContext, values: ListedCall[3]) =>
    calls.push([name, pair, String(index), values]);
  const replaced = (name: string, context: CallbackContext, price: number) =>
    list(name, context, {
      proposed_rate: context.candles.open[context.index],
      current_order_rate: price,
    });
  const listing: StrategyCallbacks = {
    ...(adjustEntryPrice && {
      adjustEntryPrice: (context, trade, price) => {
        replaced('adjust_entry_price', context, price);
        return adjustEntryPrice(context, trade, price);
      },
    }),
    ...(adjustExitPrice && {
      adjustExitPrice: (context, trade, price) => {
        replaced('adjust_exit_price', context, price);
        return adjustExitPrice(context, trade, price);
      },
    }),
    ...(adjustPosition && {
      adjustPosition: (context, trade, price, profit, limits) => {
        list('adjust_trade_position', context, {
          current_rate: price,
          current_profit: profit,
          // No minimum is 0 here.
          min_stake: limits.minStake || null,
          max_stake: limits.maxStake,
        });
        return adjustPosition(context, trade, price, profit, limits);
      },
    }),
    orderFilled: (context, { side: traded }, order: OrderView) => {
      const buys = (order.side === 'entry') === (traded === 'long');
      list('order_filled', context, {
        side: buys ? 'buy' : 'sell',
        price: order.price,
        amount: order.amount,
      });
    },
  };
  return { ...settings, callbacks: { ...callbacks, ...listing } };
}
