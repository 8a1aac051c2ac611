declare module 'virtual:operations' {
  /** Operation id -> service, method and path. */
  const operations: Readonly<
    Record<
      import('./api/client.ts').OperationId,
      readonly [service: import('#contract/operation.ts').ServiceName, method: string, path: string]
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

declare module '*.css';
