import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';

/** One thing the simulation assumes that a market need not grant. */
export interface Bias {
  /** Which way it moves the result: better, worse, or neither as a rule. */
  readonly effect: 'optimistic' | 'pessimistic' | 'neutral';
  readonly text: string;
}

/** What this run's assumptions do to its numbers, as far as they apply to it. */
export function knownBiases(strategy: StrategyDefinition, config: ResolvedBacktestConfig): Bias[] {
  return [...fillBiases(config), ...marketBiases(config), precisionBias(config), ...rules(strategy, config)];
}

function fillBiases(config: ResolvedBacktestConfig): Bias[] {
  const biases: Bias[] = [
    {
      effect: 'optimistic',
      text: 'A signal of a closed candle is filled at the open of the very next one, whole and at once: no latency, no queue, no partial fill.',
    },
  ];
  if (config.fill_model === 'conservative') {
    biases.push({
      effect: 'pessimistic',
      text: 'Conservative fills: a gap beyond the stop fills at the open, the stop comes before the target, and no favourable order inside a candle is assumed.',
    });
    return biases;
  }
  biases.push(
    {
      effect: 'optimistic',
      text: 'A candle that opens beyond the stop but comes back to it fills at the stop price, better than the open.',
    },
    {
      effect: 'pessimistic',
      text: 'When one candle reaches both the stop and the target, the stop is taken to come first.',
    },
  );
  if (config.trailing) {
    biases.push(
      {
        effect: 'optimistic',
        text: 'Trailing stop: each candle is taken to reach its best price before its worst. Tight trailing stops earn profits this way that a market would not pay; a finer timeframe_detail or the conservative fill model shows how much.',
      },
      {
        effect: 'neutral',
        text: 'A trailing stop hit in the entry candle is ordered at its distance from the open (with only_offset_is_reached at offset less positive), never at the best price of the candle; an order beyond that price waits for a later candle.',
      },
    );
  }
  return biases;
}

function marketBiases(config: ResolvedBacktestConfig): Bias[] {
  const biases: Bias[] = [
    {
      effect: 'optimistic',
      text: 'Orders do not move the price, whatever their size against the volume of the candle.',
    },
    {
      effect: 'optimistic',
      text: 'The pairs were chosen knowing today: coins that were delisted since are missing, and those that rose are likelier to be known.',
    },
  ];
  if (config.slippage === 0) {
    biases.push({
      effect: 'optimistic',
      text: 'Slippage and spread are 0. Set slippage to the share of the price that a fill costs on this market.',
    });
  }
  if (config.leverage > 1) {
    biases.push({
      effect: 'optimistic',
      text: 'A liquidation fills at its price with one maintenance rate for every size; nothing beyond the collateral is lost.',
    });
  }
  return biases;
}

function precisionBias({ precision }: ResolvedBacktestConfig): Bias {
  if (precision === 'exchange') {
    return {
      effect: 'neutral',
      text: "Precision: the exchange's present amount steps and order limits were applied to the past, when they were others. The price tick of each month is derived from all of its candles, later ones included.",
    };
  }
  return {
    effect: 'optimistic',
    text: 'Precision: none. No price tick and no amount step was applied, and no order was too small or too large for the exchange.',
  };
}

function rules(strategy: StrategyDefinition, config: ResolvedBacktestConfig): Bias[] {
  const biases: Bias[] = [
    {
      effect: 'neutral',
      text: 'One trade a pair at a time; what is open at the end is closed at the open of the last candle and counts in all totals.',
    },
  ];
  if (config.max_open_trades < config.pairs.length) {
    biases.push({
      effect: 'neutral',
      text: 'Slots are scarce: pairs earlier in the list win them, so the order of the pairs changes the result.',
    });
  }
  if (config.stake_amount === 'unlimited') {
    biases.push({
      effect: 'neutral',
      text: 'The stake follows the balance: profits and losses compound, so late trades weigh more.',
    });
  }
  if (strategy.callbacks) {
    biases.push({
      effect: 'neutral',
      text: 'Callbacks of the strategy take part in the simulation; one that reads candles later than the row it is given sees the future.',
    });
  }
  return biases;
}
