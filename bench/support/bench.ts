/** One measured value of a benchmark, printed as one row of the table. */
export interface Measurement {
  readonly label: string;
  readonly value: number;
  /** Unit of `value`, for example `of bound` or `M rows/s`. */
  readonly unit: string;
  /** Target for `value`. The table shows a missed target; it is not an error. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
  /** Inputs of the value, for example the times behind a ratio. */
  readonly detail?: string;
}

/** Default export of every benchmark file. */
export interface Bench {
  /** File name without its extension, as in `npm run bench -- <name>`. */
  readonly name: string;
  readonly description: string;
  run(): Measurement[] | Promise<Measurement[]>;
}
