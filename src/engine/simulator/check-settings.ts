import type { SimulationSettings } from './types.ts';

/** Bounds of a number; `above` and `below` exclude themselves. */
interface Bounds {
  readonly from?: number;
  readonly above?: number;
  readonly below?: number;
  readonly to?: number;
}

/**
 * Refuses settings that no simulation can follow: a NaN would otherwise pass every comparison and end in every balance.
 * @throws RangeError naming the setting and its value
 */
export function checkSettings(settings: SimulationSettings): void {
  const { stake, trailing, liquidation } = settings;
  check('timeframeMs', settings.timeframeMs, { above: 0 });
  check('startingBalance', settings.startingBalance, { from: 0 });
  if (stake.kind === 'fixed') check('stake.amount', stake.amount, { above: 0 });
  check('tradableBalanceRatio', settings.tradableBalanceRatio, { above: 0, to: 1 });
  check('lastStakeAmountMinRatio', settings.lastStakeAmountMinRatio, { from: 0, to: 1 });
  check('fee', settings.fee, { from: 0, below: 1 });
  check('slippage', settings.slippage, { from: 0, below: 1 });
  check('leverage', settings.leverage, { above: 0 });
  check('stoploss', settings.stoploss, { to: 0 });
  check('trailing.positive', trailing?.positive, { from: 0 });
  check('trailing.offset', trailing?.offset, { from: 0 });
  check('exitProfitOffset', settings.exitProfitOffset, {});
  check('liquidation.maintenanceMarginRate', liquidation.maintenanceMarginRate, { from: 0, below: 1 });
  check('liquidation.buffer', liquidation.buffer, { from: 0, below: 1 });
  check('liquidation.closingFee', liquidation.closingFee, { from: 0, below: 1 });
  check('unfilledTimeoutMinutes', settings.unfilledTimeoutMinutes, { from: 0 });
  for (const [minutes, ratio] of Object.entries(settings.minimalRoi ?? {})) {
    if (!/^\d+$/.test(minutes))
      throw new RangeError(
        `The setting minimalRoi has the key ${JSON.stringify(minutes)}; keys are whole minutes`,
      );
    check(`minimalRoi.${minutes}`, ratio, { from: -1 });
  }
  if (Number.isNaN(settings.maxOpenTrades))
    throw new RangeError('The setting maxOpenTrades is NaN; it must be a number of trades');
}

function check(name: string, value: number | undefined, bounds: Bounds): void {
  if (value === undefined) return;
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = bounds;
  const { above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY } = bounds;
  // An infinite value is outside the open interval whatever the bounds.
  if (value >= from && value <= to && value > above && value < below) return;
  const limits = Object.entries(bounds).map(([bound, limit]) => ` ${bound} ${limit}`);
  throw new RangeError(`The setting ${name} is ${value}; it must be a finite number${limits.join('')}`);
}
