import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ReportPairData } from '#contract/backtests/report.ts';
import type { SlippageModel } from '#contract/config/slippage-model.ts';
import { roundNumber } from '../round.ts';
import type { StrategyDefinition } from '../strategy.ts';

/** Assumption of the simulation that a market may violate. */
interface Bias {
  /** Direction in which it changes the result. */
  readonly effect: 'optimistic' | 'pessimistic' | 'neutral';
  readonly text: string;
}

/** Assumptions that apply to this run, with their effect. */
export function knownBiases(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: readonly ReportPairData[],
): Bias[] {
  return [
    ...fillBiases(config),
    ...marketBiases(config),
    ...liquidationBiases(strategy, config, data),
    precisionBias(config),
    ...rules(strategy, config),
  ];
}

function fillBiases(config: ResolvedBacktestConfig): Bias[] {
  const biases: Bias[] = [
    {
      effect: 'optimistic',
      text:
        config.slippage_model?.participation === undefined
          ? 'An order at the open of the candle after its signal fills completely and immediately: no latency, no queue, no partial fills.'
          : 'An order at the open of the candle after its signal fills immediately, up to the limit by volume: no latency, no queue.',
    },
  ];
  if (config.fill_model === 'conservative') {
    biases.push({
      effect: 'pessimistic',
      text: 'Conservative fills: each candle of a trade is walked on two paths of straight lines, open, high, low, close and open, low, high, close. The one that leaves the trade worth less at the close counts. This is no lower bound of the run, nor always below the freqtrade fill model: a path that is worse at the close can be better later.',
    });
    return biases;
  }
  biases.push(
    {
      effect: 'optimistic',
      text: 'A candle that opens beyond the stop and returns to it fills at the stop price, which is better than the open.',
    },
    {
      effect: 'pessimistic',
      text: 'When one candle reaches both the target and a stop that has not moved, the stop is assumed to fill first.',
    },
    {
      effect: 'optimistic',
      text: 'The slot and the money of a trade that ends inside a candle are free for entries at the open of the same candle.',
    },
  );
  if (config.trailing) {
    biases.push(
      {
        effect: 'optimistic',
        text: 'Trailing stop: a candle that does not reach the stop is assumed to reach its best price before its worst. When it reaches both the target and a stop that has moved, the target is assumed to fill first. Tight trailing stops therefore earn profits that a market would not pay. A finer timeframe_detail or the conservative fill model shows the size of this effect.',
      },
      {
        effect: 'neutral',
        text: 'A trailing stop hit in the entry candle is placed at its distance from the open, not from the best price of the candle. With only_offset_is_reached it is placed at offset minus positive. An order beyond the best price waits for a later candle.',
      },
    );
  }
  return biases;
}

const GIVEN_SIGNALS: Bias = {
  effect: 'optimistic',
  text: 'The signals were given in a file, not computed. Nothing shows that they use closed candles only: one row too early is look-ahead bias.',
};

function marketBiases(config: ResolvedBacktestConfig): Bias[] {
  const { slippage_model: model } = config;
  const biases: Bias[] = [
    ...(config.signals === undefined ? [] : [GIVEN_SIGNALS]),
    ...(model?.impact === undefined
      ? [
          {
            effect: 'optimistic' as const,
            text: 'Orders do not move the price, regardless of their size relative to the volume of the candle.',
          },
        ]
      : []),
    ...(model ? slippageBiases(model) : []),
    ...universeBiases(config),
  ];
  if (config.slippage === 0 && !model?.spread) {
    biases.push({
      effect: 'optimistic',
      text: 'Slippage and spread are 0. Set slippage to the fraction of the price that a fill costs on this market.',
    });
  }
  if (config.trading_mode === 'spot') {
    biases.push({
      effect: 'neutral',
      text: 'Spot: only long trades, without leverage, funding and liquidation. The wallet is in the quote currency; open trades are valued at the close of each candle.',
    });
  }
  return biases;
}

function liquidationBiases(
  { callbacks }: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: readonly ReportPairData[],
): Bias[] {
  // In spot the callback is not called.
  const mayRaise = callbacks?.leverage !== undefined && config.trading_mode !== 'spot';
  if (config.leverage <= 1 && !mayRaise && config.margin_mode !== 'cross') return [];
  const rated = data.filter((pair) => !pair.leverage_tiers).map(({ pair }) => pair);
  const rates =
    rated.length === data.length
      ? 'A liquidation fills at its price with one maintenance rate for every size.'
      : `A liquidation fills at its price. The exchange's present leverage tiers are applied to the past${rated.length > 0 ? `, and one maintenance rate for every size to ${rated.join(', ')}, which have none` : ''}.`;
  const loss =
    config.margin_mode === 'cross'
      ? `It closes one trade, ${config.fill_model === 'conservative' ? 'and other pairs count as at the open of the candle' : 'and open profit or loss of other pairs does not count as margin'}. A trade loses at most the account.`
      : 'A trade loses at most its collateral, fees and funding inside.';
  const each =
    config.position_stacking && rated.length < data.length
      ? ' Leverage tiers are those of each trade alone; an exchange adds up the trades of a pair and side, and asks for more margin.'
      : '';
  return [{ effect: 'optimistic', text: `${rates} ${loss}${each}` }];
}

function precisionBias({ precision }: ResolvedBacktestConfig): Bias {
  if (precision === 'exchange') {
    return {
      effect: 'neutral',
      text: "Precision: the exchange's present amount steps and order limits are applied to the past, when they were different. The price tick of each month is derived from all candles of the month, later ones included.",
    };
  }
  return {
    effect: 'optimistic',
    text: 'Precision: none. Price ticks, amount steps and order size limits of the exchange are not applied.',
  };
}

function rules(strategy: StrategyDefinition, config: ResolvedBacktestConfig): Bias[] {
  const biases: Bias[] = [
    {
      effect: 'neutral',
      text: `${config.position_stacking ? 'A pair may have several open trades, each with its own stop.' : 'Each pair has at most one open trade.'} Trades open at the end are closed at the open of the last candle and count in all totals.`,
    },
  ];
  if (config.max_open_trades < config.pairs.length) {
    biases.push({
      effect: 'neutral',
      text: 'There are fewer slots than pairs. Pairs earlier in the list take free slots first, so the order of the pairs changes the result.',
    });
  }
  if (config.stake_amount === 'unlimited') {
    biases.push({
      effect: 'neutral',
      text: 'The stake follows the balance: profits and losses compound, so later trades have more weight.',
    });
  }
  if (strategy.callbacks) {
    biases.push({
      effect: 'neutral',
      text: 'Callbacks of the strategy affect the simulation. A callback that reads candles after its row has look-ahead bias.',
    });
  }
  return biases;
}

/** What a model assumes, for the list of biases. */
function slippageBiases({ spread, spread_days, impact, participation }: SlippageModel) {
  return [
    ...(spread
      ? [
          {
            effect: 'neutral' as const,
            text: `Market fills pay half of a spread estimated from candles (${spread}, ${spread_days} days before the day of the fill), at least half a price tick where the instrument is known. Such estimates are noisy, and too high for markets whose spread is far below their volatility.`,
          },
        ]
      : []),
    ...(impact === undefined
      ? []
      : [
          {
            effect: 'neutral' as const,
            text: `Market fills move the price by ${impact} times the daily volatility times the root of their share of the daily volume. The coefficient is assumed, not measured on this market, and no impact lasts to the next fill.`,
          },
        ]),
    participation === undefined
      ? {
          effect: 'optimistic' as const,
          text: 'Orders fill completely, regardless of their size relative to the volume of the candle.',
        }
      : {
          effect: 'neutral' as const,
          text: `A candle fills at most ${roundNumber(participation * 100)} % of the volume of the candle before it. Entries lose the rest; exits continue at the opens of the next candles; liquidations and the end of the data fill completely.`,
        },
  ];
}

/** What the choice of the pairs assumes. */
function universeBiases({ universe }: Pick<ResolvedBacktestConfig, 'universe'>) {
  if (!universe) {
    return [
      {
        effect: 'optimistic' as const,
        text: 'The pairs were chosen with present knowledge (survivorship bias). Coins delisted since then are missing, and coins that rose are more likely to be known.',
      },
    ];
  }
  const { delisting_haircut: haircut } = universe;
  const percent = Number((haircut * 100).toPrecision(12));
  return [
    {
      effect: 'optimistic' as const,
      text: 'The pairs were chosen from the stored candles of days before each choice. A pair that was never stored could not be chosen: delisted pairs count only where their candles are stored.',
    },
    {
      effect: haircut > 0 ? ('neutral' as const) : ('optimistic' as const),
      text: `A position in a pair whose candles end a day or more before the run is closed at the last stored close, less a haircut of ${percent} % for longs, plus it for shorts (universe.delisting_haircut). A delisted pair may have been worth less, or could not be sold.`,
    },
    {
      effect: 'neutral' as const,
      text: 'Market change, benchmark, alpha and beta hold every pair that was ever in, also before it came in: they know the choice in advance.',
    },
  ];
}
