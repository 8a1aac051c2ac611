import type { BacktestResult, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { EquityData } from '#contract/backtests/backtest-api.ts';
import type { Provenance, ReportPairData } from '#contract/backtests/report.ts';
import type { Metrics } from '#contract/backtests/report-metrics.ts';
import type { Digest } from '#contract/values/digest.ts';
import { PROFIT_FACTOR_WITHOUT_LOSSES, SHORT_RUN_DAYS } from '#contract/values/undefined-metrics.ts';
import { canonicalJson } from '../digest.ts';
import { type DailyEquity, drawdownSeries, isoDay, monthOf, periodReturns } from '../metrics/equity-curve.ts';
import type { TradeColumns } from '../metrics/trade-metrics.ts';
import { undefinedMetrics } from '../metrics/undefined.ts';
import { roundNumbers } from '../round.ts';
import type { PairData } from '../run/history.ts';
import { finite, mean, sum, variance } from '../stats/moments.ts';
import { ENGINE_VERSION } from '../version.ts';
import { profitPct } from './trades.ts';

export function buildResult(metrics: Metrics, trades: TradeColumns): BacktestResult {
  const { account, equity, closed_trades: closed, activity } = metrics;
  const profits = trades.profitRatio.map(profitPct);
  const withoutLosses = closed.winning_trades > 0 ? PROFIT_FACTOR_WITHOUT_LOSSES : 0;
  const result = {
    total_trades: closed.total_trades,
    winning_trades: closed.winning_trades,
    losing_trades: closed.losing_trades,
    total_profit: account.total_profit,
    total_profit_pct: account.total_profit_pct,
    sharpe_ratio: equity.sharpe_ratio ?? 0,
    profit_factor: closed.profit_factor ?? withoutLosses,
    win_rate: closed.win_rate ?? 0,
    max_drawdown_pct: equity.max_drawdown_pct,
    draws: closed.draws,
    final_balance: account.final_balance,
    sortino_ratio: equity.sortino_ratio,
    calmar_ratio: equity.calmar_ratio,
    cagr_pct: account.cagr_pct,
    expectancy: closed.expectancy,
    sqn: closed.sqn,
    exposure_pct: activity.exposure_pct,
    market_change_pct: account.market_change_pct,
    fees: sum(trades.fees),
    funding: sum(trades.funding),
    trade_stats: {
      n: profits.length,
      mean: finite(mean(profits)),
      variance: finite(variance(profits, 'sample')),
    },
    backtest_days: account.backtest_days,
    short_run: account.backtest_days < SHORT_RUN_DAYS,
  };
  const reasons = Object.entries(undefinedMetrics(metrics)).filter(([name]) => name in result);
  return roundNumbers({ ...result, undefined_metrics: Object.fromEntries(reasons) });
}

/** @param wallet starting balance, quote currency */
export function buildEquityData(wallet: number, daily: DailyEquity): EquityData {
  return roundNumbers({
    dates: Array.from(daily.day, isoDay),
    equity: Array.from(daily.equity),
    drawdown: Array.from(drawdownSeries(wallet, daily.equity)),
    monthly_returns: Object.fromEntries(periodReturns(daily, wallet, monthOf)),
  });
}

interface ProvenanceInput {
  readonly config: ResolvedBacktestConfig;
  readonly strategyDigest: string;
  readonly pairs: readonly PairData[];
}

/** @param data digests of everything that was read */
export function provenanceOf(
  { config, strategyDigest, pairs }: ProvenanceInput,
  data: readonly Pick<ReportPairData, 'digest'>[],
  digest: Digest,
): Provenance {
  const { precision, ...others } = config;
  const exact = precision === 'exchange';
  const parts = {
    engine_version: ENGINE_VERSION,
    strategy_digest: strategyDigest,
    parameters_digest: digest(canonicalJson(config.params)),
    // A missing precision and precision `none` are the same configuration.
    config_digest: digest(canonicalJson(exact ? config : others)),
    data_digest: dataDigest(data, digest),
    ...(exact && { instruments_digest: digest(canonicalJson(pairs.map(instrumentOf))) }),
  };
  const { slippage_model } = config;
  // A part of the configuration, by name: two results with other fills cannot be compared.
  return { ...parts, ...(slippage_model && { slippage_model }), digest: digest(canonicalJson(parts)) };
}

export function dataDigest(data: readonly Pick<ReportPairData, 'digest'>[], digest: Digest): string {
  return digest(data.map((each) => each.digest).join('\n'));
}

const instrumentOf = ({ pair, instrument }: PairData) => ({ pair, instrument: instrument ?? null });
