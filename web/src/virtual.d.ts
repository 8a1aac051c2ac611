declare module 'virtual:operations' {
  /** Operation id -> service, method, path, the role that may call it, and those that some of its fields need. */
  const operations: Readonly<
    Record<
      import('./api/client.ts').OperationId,
      readonly [
        service: import('#contract/operation.ts').ServiceName,
        method: string,
        path: string,
        access: import('#contract/operation.ts').Operation['access'],
        fieldRoles?: NonNullable<import('#contract/operation.ts').Operation['fieldRoles']>,
      ]
    >
  >;
  export default operations;
}

declare module 'virtual:metrics' {
  const metrics: {
    readonly definitions: Readonly<Record<string, import('#contract/report.ts').MetricDefinition>>;
    /** Symbols of the formulas. */
    readonly notation: Readonly<Record<string, string>>;
  };
  export default metrics;
}

declare module 'virtual:limits' {
  /** Bounds, defaults and enumerations of the requests. */
  const limits: {
    readonly backtest: {
      readonly limits: typeof import('#contract/limits.ts').BACKTEST_LIMITS;
      readonly defaults: typeof import('#contract/limits.ts').BACKTEST_DEFAULTS;
    };
    readonly account: {
      readonly limits: typeof import('#contract/account-limits.ts').ACCOUNT_LIMITS;
      readonly defaults: typeof import('#contract/account-limits.ts').ACCOUNT_DEFAULTS;
      readonly orderTypes: typeof import('#contract/account-limits.ts').ORDER_TYPES;
      readonly marginModes: typeof import('#contract/account-limits.ts').MARGIN_MODES;
    };
    readonly robustness: typeof import('#contract/robustness.ts').ROBUSTNESS_LIMITS;
    /** Given signals: the strategy that trades them, and their files. */
    readonly signals: {
      readonly strategy: typeof import('#contract/signals-limits.ts').SIGNALS_STRATEGY;
      readonly limits: typeof import('#contract/signals-limits.ts').SIGNALS_LIMITS;
      readonly columns: {
        readonly all: typeof import('#contract/signals-limits.ts').SIGNALS_COLUMNS;
        readonly flags: typeof import('#contract/signals-limits.ts').SIGNAL_FLAGS;
      };
      readonly unusedDays: number;
    };
    readonly universe: {
      readonly limits: typeof import('#contract/universe-limits.ts').UNIVERSE_LIMITS;
      readonly defaults: typeof import('#contract/universe-limits.ts').UNIVERSE_DEFAULTS;
      readonly rebalances: typeof import('#contract/universe-limits.ts').REBALANCES;
    };
    readonly slippageModel: {
      readonly limits: typeof import('#contract/slippage-limits.ts').SLIPPAGE_MODEL_LIMITS;
      readonly defaults: typeof import('#contract/slippage-limits.ts').SLIPPAGE_MODEL_DEFAULTS;
      readonly estimators: typeof import('#contract/slippage-limits.ts').SPREAD_ESTIMATORS;
    };
    /** Settings of models. */
    readonly models: {
      readonly limits: typeof import('#contract/limits.ts').ML_ENGINE_LIMITS &
        typeof import('#contract/limits.ts').CLASSIFIER_LIMITS;
      readonly defaults: typeof import('#contract/limits.ts').ML_ENGINE_DEFAULTS;
    };
    readonly protections: {
      readonly limits: typeof import('#contract/protection-limits.ts').PROTECTION_LIMITS;
      /** Settings of each protection, by its method. */
      readonly keys: typeof import('#contract/protection-limits.ts').PROTECTION_KEYS;
    };
    readonly fillModels: typeof import('#contract/limits.ts').FILL_MODELS;
    readonly hyperopt: {
      readonly limits: typeof import('#contract/hyperopt-request.ts').HYPEROPT_LIMITS;
      readonly defaults: typeof import('#contract/hyperopt-request.ts').HYPEROPT_DEFAULTS;
    };
    readonly timeframes: typeof import('#contract/limits.ts').TIMEFRAMES;
    readonly collectModes: typeof import('#contract/limits.ts').COLLECT_MODES;
    readonly precisions: typeof import('#contract/limits.ts').PRECISIONS;
    readonly tradingModes: typeof import('#contract/trading-modes.ts').TRADING_MODES;
    readonly modelKinds: typeof import('#contract/limits.ts').MODEL_KINDS;
    readonly samplers: typeof import('#contract/hyperopt.ts').SAMPLERS;
    readonly pruners: typeof import('#contract/hyperopt.ts').PRUNERS;
    readonly spaces: typeof import('#contract/hyperopt.ts').SPACES;
    /** Metrics that a search can optimize; `better` is null where the direction depends on the goal. */
    readonly objectives: readonly {
      readonly name: string;
      readonly label: string;
      readonly better: import('#contract/hyperopt.ts').Direction | null;
    }[];
    readonly overfitting: typeof import('#contract/limits.ts').OVERFITTING_BOUNDS;
  };
  export default limits;
}

declare module 'virtual:challenges' {
  const challenges: {
    /** Stages with the challenger's share of the traffic. */
    readonly stages: typeof import('#contract/stored-challenge.ts').CANARY_STAGES;
    readonly limits: typeof import('#contract/limits.ts').CHALLENGE_LIMITS;
    readonly defaults: typeof import('#contract/limits.ts').CHALLENGE_DEFAULTS;
    readonly analysisUnits: typeof import('#contract/stored-challenge.ts').ANALYSIS_UNITS;
    readonly onRollback: typeof import('#contract/stored-challenge.ts').ON_ROLLBACK;
  };
  export default challenges;
}

declare module '*.css';
