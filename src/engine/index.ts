/** Everything that a strategy imports: `touchstone/engine`. */
export { CANDLE_COLUMNS, type Candles } from './candles.ts';
export * from './indicators/index.ts';
export {
  type AccountWallet,
  type AdjustmentLimits,
  type CallbackContext,
  type Columns,
  defineStrategy,
  type EntryLimits,
  type InformativeColumns,
  type LoopContext,
  type MlEngineOverrides,
  type MlLabel,
  type OpenTrade,
  type OrderView,
  type Parameter,
  type ParameterSpec,
  type ParameterValues,
  type PredictionColumns,
  type Protection,
  type ReturnedSignals,
  type RoiTable,
  type Signals,
  type StoredData,
  type StoredValue,
  type StrategyCallbacks,
  type StrategyDefinition,
  type TaggedStake,
  type TradeView,
  type TrailingStop,
  UNKNOWN_LABEL,
} from './strategy.ts';
export { ALL_TIMEFRAMES, TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from './timeframe.ts';
export { riseLabel } from './walk-forward/labels.ts';
