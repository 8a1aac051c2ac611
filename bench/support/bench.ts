/** One measured number of a bench, printed as one row of the table. */
export interface Figure {
  readonly label: string;
  readonly value: number;
  /** What `value` counts, for example `of bound` or `M rows/s`. */
  readonly unit: string;
  /** The goal for `value`; a miss is shown, never an error. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
  /** What the number was made of, for example the times behind a ratio. */
  readonly detail?: string;
}

/** The default export of every bench file. */
export interface Bench {
  /** The file name without its ending: what `npm run bench -- <name>` takes. */
  readonly name: string;
  readonly description: string;
  run(): Figure[] | Promise<Figure[]>;
}
