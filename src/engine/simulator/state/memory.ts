/**
 * Columns that successive runs share, so that a run allocates none. A run with them ends the results of the run before: its
 * curve and its outcomes are overwritten.
 */
export class SimulationMemory {
  readonly #blocks: Float64Array[] = [];
  #equity = new Float64Array(0);

  /** A column of `rows` values, of any content. */
  equity(rows: number): Float64Array {
    if (this.#equity.length < rows) this.#equity = new Float64Array(rows);
    return this.#equity.subarray(0, rows);
  }

  /** Block `index` of the records of trades, of `length` values of any content. */
  block(index: number, length: number): Float64Array {
    this.#blocks[index] ??= new Float64Array(length);
    return this.#blocks[index];
  }
}
