import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { ROBUSTNESS_LIMITS } from '../src/contract/config/robustness.ts';
import { PRUNERS, SAMPLERS, SPACES } from '../src/contract/hyperopt/hyperopt.ts';
import { HYPEROPT_DEFAULTS, HYPEROPT_LIMITS } from '../src/contract/hyperopt/hyperopt-request.ts';
import { OPERATIONS } from '../src/contract/operations/operations.ts';
import { ANALYSIS_UNITS, CANARY_STAGES, ON_ROLLBACK } from '../src/contract/registry/stored-challenge.ts';
import {
  ACCOUNT_DEFAULTS,
  ACCOUNT_LIMITS,
  MARGIN_MODES,
  ORDER_TYPES,
} from '../src/contract/values/account-limits.ts';
import {
  BACKTEST_DEFAULTS,
  BACKTEST_LIMITS,
  COLLECT_MODES,
  FILL_MODELS,
  OVERFITTING_BOUNDS,
  PRECISIONS,
} from '../src/contract/values/backtest-limits.ts';
import { CHALLENGE_DEFAULTS, CHALLENGE_LIMITS } from '../src/contract/values/challenge-limits.ts';
import { MLFLOW_PREFIX } from '../src/contract/values/mlflow-paths.ts';
import {
  CLASSIFIER_LIMITS,
  ML_ENGINE_DEFAULTS,
  ML_ENGINE_LIMITS,
  MODEL_KINDS,
} from '../src/contract/values/model-limits.ts';
import type { Operation } from '../src/contract/values/operation.ts';
import { PROTECTION_KEYS, PROTECTION_LIMITS } from '../src/contract/values/protection-limits.ts';
import {
  SIGNAL_FLAGS,
  SIGNALS_COLUMNS,
  SIGNALS_LIMITS,
  SIGNALS_STRATEGY,
  UNUSED_SIGNALS_DAYS,
} from '../src/contract/values/signals-limits.ts';
import {
  SLIPPAGE_MODEL_DEFAULTS,
  SLIPPAGE_MODEL_LIMITS,
  SPREAD_ESTIMATORS,
} from '../src/contract/values/slippage-limits.ts';
import { TIMEFRAMES } from '../src/contract/values/timeframes.ts';
import { TRADING_MODES } from '../src/contract/values/trading-modes.ts';
import { REBALANCES, UNIVERSE_DEFAULTS, UNIVERSE_LIMITS } from '../src/contract/values/universe-limits.ts';
import { METRIC_DEFINITIONS, METRIC_NOTATION } from '../src/engine/metrics/catalogue.ts';
import { OBJECTIVES } from '../src/engine/walk-forward/objectives.ts';
import { reportFile } from './report-file.ts';

/** Modules made at build time from tables of the platform, so that neither zod nor a second copy of a table is in the bundle. */
const TABLES: Readonly<Record<string, () => unknown>> = {
  /** Operation id -> service, method, path, the role that may call it, and those that some of its fields need. */
  'virtual:operations': () =>
    Object.fromEntries(
      OPERATIONS.filter(({ path }) => !path.startsWith(MLFLOW_PREFIX)).map(
        ({ id, service, method, path, access, fieldRoles }: Operation) => [
          id,
          [service, method, path, access, ...(fieldRoles ? [fieldRoles] : [])],
        ],
      ),
    ),
  /** Labels, units and formulas of the metrics, and the symbols of the formulas. */
  'virtual:metrics': () => ({
    definitions: METRIC_DEFINITIONS,
    notation: METRIC_NOTATION,
  }),
  /** Bounds, defaults and enumerations of the requests, for forms. */
  'virtual:limits': () => ({
    backtest: { limits: BACKTEST_LIMITS, defaults: BACKTEST_DEFAULTS },
    account: {
      limits: ACCOUNT_LIMITS,
      defaults: ACCOUNT_DEFAULTS,
      orderTypes: ORDER_TYPES,
      marginModes: MARGIN_MODES,
    },
    robustness: ROBUSTNESS_LIMITS,
    signals: {
      strategy: SIGNALS_STRATEGY,
      limits: SIGNALS_LIMITS,
      columns: { all: SIGNALS_COLUMNS, flags: SIGNAL_FLAGS },
      unusedDays: UNUSED_SIGNALS_DAYS,
    },
    universe: { limits: UNIVERSE_LIMITS, defaults: UNIVERSE_DEFAULTS, rebalances: REBALANCES },
    slippageModel: {
      limits: SLIPPAGE_MODEL_LIMITS,
      defaults: SLIPPAGE_MODEL_DEFAULTS,
      estimators: SPREAD_ESTIMATORS,
    },
    models: { limits: { ...ML_ENGINE_LIMITS, ...CLASSIFIER_LIMITS }, defaults: ML_ENGINE_DEFAULTS },
    protections: { limits: PROTECTION_LIMITS, keys: PROTECTION_KEYS },
    fillModels: FILL_MODELS,
    hyperopt: { limits: HYPEROPT_LIMITS, defaults: HYPEROPT_DEFAULTS },
    timeframes: TIMEFRAMES,
    collectModes: COLLECT_MODES,
    precisions: PRECISIONS,
    tradingModes: TRADING_MODES,
    modelKinds: MODEL_KINDS,
    samplers: SAMPLERS,
    pruners: PRUNERS,
    spaces: SPACES,
    objectives: OBJECTIVES,
    overfitting: OVERFITTING_BOUNDS,
  }),
  /** Stages of a challenge with the challenger's traffic share; bounds, defaults and enumerations of its request. */
  'virtual:challenges': () => ({
    stages: CANARY_STAGES,
    limits: CHALLENGE_LIMITS,
    defaults: CHALLENGE_DEFAULTS,
    analysisUnits: ANALYSIS_UNITS,
    onRollback: ON_ROLLBACK,
  }),
};

function tables(): Plugin {
  return {
    name: 'tables',
    resolveId: (source) => (Object.hasOwn(TABLES, source) ? `\0${source}` : undefined),
    load(id) {
      const make = TABLES[id.slice(1)];
      return make && `export default ${JSON.stringify(make())}`;
    },
  };
}

/** The platform of `npm start`, which serves all of the dashboard's requests at one address. */
const PLATFORM = `http://127.0.0.1:${process.env.BACKEND_PORT ?? 8000}`;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tables(), reportFile([tables()])],
  server: {
    proxy: {
      '/services/': PLATFORM,
      '/downloads/': PLATFORM,
      '/uploads/': PLATFORM,
      '/config.json': PLATFORM,
    },
  },
  build: {
    outDir: join(import.meta.dirname, '../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    manifest: true,
    // The policy forbids data URLs for all but images, and a file of its own is kept by the browser.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What every page needs is two files, which compress better than forty; a release seldom changes the packages.
        codeSplitting: {
          groups: [
            { name: 'packages', test: /[\\/]node_modules[\\/]/, tags: ['$initial'] },
            { name: 'shared', test: /[\\/]src[\\/]((api|auth|ui)[\\/]|.*search\.ts$)/, tags: ['$initial'] },
          ],
        },
      },
      // React's server directives mean nothing to a browser.
      onLog: (level, log, next) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') next(level, log);
      },
    },
  },
});
