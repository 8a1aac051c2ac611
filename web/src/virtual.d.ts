declare module 'virtual:operations' {
  /** Operation id -> service, method, path, the role that may call it, and those that some of its fields need. */
  const operations: Readonly<
    Record<
      import('./api/client.ts').OperationId,
      readonly [
        service: import('#contract/values/operation.ts').ServiceName,
        method: string,
        path: string,
        access: import('#contract/values/operation.ts').Operation['access'],
        fieldRoles?: NonNullable<import('#contract/values/operation.ts').Operation['fieldRoles']>,
      ]
    >
  >;
  export default operations;
}

declare module 'virtual:metrics' {
  const metrics: {
    readonly definitions: Readonly<Record<string, import('#contract/backtests/report.ts').MetricDefinition>>;
    /** Symbols of the formulas. */
    readonly notation: Readonly<Record<string, string>>;
  };
  export default metrics;
}

declare module 'virtual:limits' {
  /** Bounds, defaults and enumerations of the requests. */
  const limits: {
    readonly backtest: {
      readonly limits: typeof import('#contract/values/backtest-limits.ts').BACKTEST_LIMITS;
      readonly defaults: typeof import('#contract/values/backtest-limits.ts').BACKTEST_DEFAULTS;
    };
    readonly account: {
      readonly limits: typeof import('#contract/values/account-limits.ts').ACCOUNT_LIMITS;
      readonly defaults: typeof import('#contract/values/account-limits.ts').ACCOUNT_DEFAULTS;
      readonly orderTypes: typeof import('#contract/values/account-limits.ts').ORDER_TYPES;
      readonly marginModes: typeof import('#contract/values/account-limits.ts').MARGIN_MODES;
    };
    readonly robustness: typeof import('#contract/config/robustness.ts').ROBUSTNESS_LIMITS;
    /** Given signals: the strategy that trades them, and their files. */
    readonly signals: {
      readonly strategy: typeof import('#contract/values/signals-limits.ts').SIGNALS_STRATEGY;
      readonly limits: typeof import('#contract/values/signals-limits.ts').SIGNALS_LIMITS;
      readonly columns: {
        readonly all: typeof import('#contract/values/signals-limits.ts').SIGNALS_COLUMNS;
        readonly flags: typeof import('#contract/values/signals-limits.ts').SIGNAL_FLAGS;
      };
      readonly unusedDays: number;
    };
    readonly universe: {
      readonly limits: typeof import('#contract/values/universe-limits.ts').UNIVERSE_LIMITS;
      readonly defaults: typeof import('#contract/values/universe-limits.ts').UNIVERSE_DEFAULTS;
      readonly rebalances: typeof import('#contract/values/universe-limits.ts').REBALANCES;
    };
    readonly slippageModel: {
      readonly limits: typeof import('#contract/values/slippage-limits.ts').SLIPPAGE_MODEL_LIMITS;
      readonly defaults: typeof import('#contract/values/slippage-limits.ts').SLIPPAGE_MODEL_DEFAULTS;
      readonly estimators: typeof import('#contract/values/slippage-limits.ts').SPREAD_ESTIMATORS;
    };
    /** Settings of models. */
    readonly models: {
      readonly limits: typeof import('#contract/values/model-limits.ts').ML_ENGINE_LIMITS &
        typeof import('#contract/values/model-limits.ts').CLASSIFIER_LIMITS;
      readonly defaults: typeof import('#contract/values/model-limits.ts').ML_ENGINE_DEFAULTS;
    };
    readonly protections: {
      readonly limits: typeof import('#contract/values/protection-limits.ts').PROTECTION_LIMITS;
      /** Settings of each protection, by its method. */
      readonly keys: typeof import('#contract/values/protection-limits.ts').PROTECTION_KEYS;
    };
    readonly fillModels: typeof import('#contract/values/backtest-limits.ts').FILL_MODELS;
    readonly hyperopt: {
      readonly limits: typeof import('#contract/hyperopt/hyperopt-request.ts').HYPEROPT_LIMITS;
      readonly defaults: typeof import('#contract/hyperopt/hyperopt-request.ts').HYPEROPT_DEFAULTS;
    };
    readonly timeframes: typeof import('#contract/values/timeframes.ts').TIMEFRAMES;
    readonly collectModes: typeof import('#contract/values/backtest-limits.ts').COLLECT_MODES;
    readonly precisions: typeof import('#contract/values/backtest-limits.ts').PRECISIONS;
    readonly tradingModes: typeof import('#contract/values/trading-modes.ts').TRADING_MODES;
    readonly modelKinds: typeof import('#contract/values/model-limits.ts').MODEL_KINDS;
    readonly samplers: typeof import('#contract/hyperopt/hyperopt.ts').SAMPLERS;
    readonly pruners: typeof import('#contract/hyperopt/hyperopt.ts').PRUNERS;
    readonly spaces: typeof import('#contract/hyperopt/hyperopt.ts').SPACES;
    /** Metrics that a search can optimize; `better` is null where the direction depends on the goal. */
    readonly objectives: readonly {
      readonly name: string;
      readonly label: string;
      readonly better: import('#contract/hyperopt/hyperopt.ts').Direction | null;
    }[];
    readonly overfitting: typeof import('#contract/values/backtest-limits.ts').OVERFITTING_BOUNDS;
  };
  export default limits;
}

declare module 'virtual:challenges' {
  const challenges: {
    /** Stages with the challenger's share of the traffic. */
    readonly stages: typeof import('#contract/registry/stored-challenge.ts').CANARY_STAGES;
    readonly limits: typeof import('#contract/values/challenge-limits.ts').CHALLENGE_LIMITS;
    readonly defaults: typeof import('#contract/values/challenge-limits.ts').CHALLENGE_DEFAULTS;
    readonly analysisUnits: typeof import('#contract/registry/stored-challenge.ts').ANALYSIS_UNITS;
    readonly onRollback: typeof import('#contract/registry/stored-challenge.ts').ON_ROLLBACK;
  };
  export default challenges;
}

declare module '*.css';
