import * as z from 'zod';
import { BacktestConfigRequest } from '../backtests/backtest-api.ts';
import { ReleasePolicy } from '../registry/release-policy.ts';

/** Settings of `touchstone ci`: the candles and costs of both runs of a strategy, and what the run of the change must reach. */
export const CiSettings = z.strictObject({
  config: BacktestConfigRequest.pick({
    exchange: true,
    trading_mode: true,
    date_range: true,
    dry_run_wallet: true,
    fee: true,
    slippage: true,
    slippage_model: true,
    fill_model: true,
    timeframe_detail: true,
  })
    .strict()
    .optional()
    .describe(
      'Settings of the backtests, as in a backtest request. Default: simulated candles (exchange sim) of 2024-07-01 to 2025-01-01. Another exchange needs stored candles.',
    ),
  guardrails: ReleasePolicy.pick({
    minTrades: true,
    minDays: true,
    minSharpe: true,
    minProfitFactor: true,
    maxDrawdown: true,
  })
    .optional()
    .describe(
      'Requirements that the backtest of each changed strategy must meet, as in a release policy; maxDrawdown in percent. Default: none.',
    ),
  failOnWorse: z
    .boolean()
    .optional()
    .describe(
      'Fail when a guardrail of the comparison with the base is broken: drawdown more than 10 % larger, Sharpe ratio at least 10 % worse, profit factor below 1. Default: false, they are warnings.',
    ),
});
export type CiSettings = z.infer<typeof CiSettings>;
