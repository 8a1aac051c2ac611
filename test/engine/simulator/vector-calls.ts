import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { CallbackContext, StrategyCallbacks } from '#engine/strategy.ts';

/** A call as the scenarios list them: callback, pair, row, arguments. */
export type ListedCall = readonly [string, string, string, Readonly<Record<string, unknown>>];

/** Arguments of the listed callbacks that the engine's have too. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  adjust_entry_price: ['proposed_rate', 'current_order_rate'],
  adjust_exit_price: ['proposed_rate', 'current_order_rate'],
  adjust_trade_position: ['current_rate', 'current_profit', 'min_stake', 'max_stake'],
  order_filled: ['side', 'price', 'amount'],
  custom_entry_price: ['proposed_rate'],
  confirm_trade_entry: ['rate'],
  custom_stake_amount: ['proposed_stake'],
  leverage: [],
  custom_stoploss: ['current_rate', 'current_profit', 'after_fill'],
  confirm_trade_exit: ['exit_reason', 'rate'],
};

/** The calls of a scenario with the arguments that {@link listingCalls} lists too. */
export function comparedCalls(calls: readonly ListedCall[] = []): readonly ListedCall[] {
  return calls.map(([name, pair, row, values]) => [
    name,
    pair,
    row,
    Object.fromEntries(ARGUMENTS[name]!.map((key) => [key, values[key]])),
  ]);
}

/** The settings with callbacks that list their calls in `calls`; those that change nothing are added. */
export function listingCalls(settings: SimulationSettings, calls: ListedCall[]): SimulationSettings {
  const { callbacks = {} } = settings;
  const list = (name: string, { pair, index }: CallbackContext, values: ListedCall[3]) =>
    calls.push([name, pair, String(index), values]);
  return {
    ...settings,
    callbacks: { ...callbacks, ...ofEntries(callbacks, list), ...ofPositions(callbacks, list) },
  };
}

type List = (name: string, context: CallbackContext, values: ListedCall[3]) => void;

function ofEntries(callbacks: StrategyCallbacks, list: List): StrategyCallbacks {
  const { adjustEntryPrice, customEntryPrice, customStake, leverage } = callbacks;
  return {
    ...(adjustEntryPrice && {
      adjustEntryPrice: (context, trade, price) => {
        list('adjust_entry_price', context, replaced(context, price));
        return adjustEntryPrice(context, trade, price);
      },
    }),
    ...(leverage && {
      leverage: (context, side, proposed) => {
        list('leverage', context, {});
        return leverage(context, side, proposed);
      },
    }),
    customEntryPrice: (context, side, proposed) => {
      list('custom_entry_price', context, { proposed_rate: proposed });
      return customEntryPrice?.(context, side, proposed) ?? proposed;
    },
    customStake: (context, side, proposed, limits) => {
      list('custom_stake_amount', context, { proposed_stake: proposed });
      return customStake?.(context, side, proposed, limits) ?? proposed;
    },
    confirmEntry: (context, _side, price) => {
      list('confirm_trade_entry', context, { rate: price });
      return true;
    },
  };
}

function ofPositions(callbacks: StrategyCallbacks, list: List): StrategyCallbacks {
  const { adjustExitPrice, adjustPosition, afterFill, confirmExit, customStoploss } = callbacks;
  return {
    ...(adjustExitPrice && {
      adjustExitPrice: (context, trade, price) => {
        list('adjust_exit_price', context, replaced(context, price));
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
    ...(customStoploss && {
      customStoploss: (context, trade, price, profit) => {
        list('custom_stoploss', context, { current_rate: price, current_profit: profit, after_fill: false });
        return customStoploss(context, trade, price, profit);
      },
    }),
    ...(afterFill && {
      afterFill: (context, trade, price, profit) => {
        list('custom_stoploss', context, { current_rate: price, current_profit: profit, after_fill: true });
        return afterFill(context, trade, price, profit);
      },
    }),
    confirmExit: (context, trade, price, reason) => {
      list('confirm_trade_exit', context, { exit_reason: reason, rate: price });
      return confirmExit?.(context, trade, price, reason) ?? true;
    },
    orderFilled: (context, { side: traded }, order) => {
      const buys = (order.side === 'entry') === (traded === 'long');
      list('order_filled', context, {
        side: buys ? 'buy' : 'sell',
        price: order.price,
        amount: order.amount,
      });
    },
  };
}

function replaced({ candles, index }: CallbackContext, price: number) {
  return { proposed_rate: candles.open[index], current_order_rate: price };
}
