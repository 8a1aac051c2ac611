import { readSync } from 'node:fs';
import { ColumnBuilder, type FileRows, type SharedBlock } from './file-rows.ts';

/** Rows of one series in the file that two processes share, without the file. */
export interface SharedRowsHead {
  readonly blocks: readonly SharedBlock[];
  /** Columns of the blocks. */
  readonly width: number;
  readonly first: FileRows['first'];
  /** The last column is the number of each row in the file. */
  readonly numbered: boolean;
  /** Numbers of the lines after the first row that are no row. */
  readonly left: readonly number[];
}

/** Rows that stay in the shared file until they are needed. They are gone when the next file is read. */
export class SharedRows {
  readonly length: number;
  readonly #head: SharedRowsHead;
  readonly #file: number;

  /** @param file descriptor of the shared file */
  constructor(head: SharedRowsHead, file: number) {
    this.#head = head;
    this.#file = file;
    this.length = head.blocks.reduce((sum, { rows }) => sum + rows, 0);
  }

  /**
   * Columns of each block.
   * @param columns the first ones that are read; default all but the row numbers
   * @param reused the arrays of a block are reused for the next one
   */
  *blocks({
    columns = this.#head.width - (this.#head.numbered ? 1 : 0),
    reused = false,
  } = {}): Generator<Float64Array<ArrayBuffer>[]> {
    let values = new Float64Array();
    for (const { offset, rows } of this.#head.blocks) {
      if (!reused || values.length < columns * rows) values = new Float64Array(columns * rows);
      const { buffer, byteLength } = values.subarray(0, columns * rows);
      readFully(this.#file, new Uint8Array(buffer, 0, byteLength), offset);
      yield Array.from({ length: columns }, (_, index) => values.subarray(index * rows, (index + 1) * rows));
    }
  }

  /** At least `count` first times, or all. */
  firstTimes(count: number): Float64Array {
    const times = new ColumnBuilder(1);
    for (const block of this.blocks({ columns: 1, reused: true })) {
      times.addBlock(block);
      if (times.length >= count) break;
    }
    return times.finish()[0]!;
  }

  /** All rows, in memory. */
  load(): FileRows {
    const { width, first, numbered } = this.#head;
    const builder = new ColumnBuilder(width, this.length);
    for (const block of this.blocks({ columns: width, reused: true })) builder.addBlock(block);
    const columns = builder.finish();
    const numbers = numbered ? columns.pop() : this.#lineNumbers();
    return { columns, first, ...(numbers && { numbers }) };
  }

  #lineNumbers(): Float64Array<ArrayBuffer> | undefined {
    const left = new Set(this.#head.left);
    if (left.size === 0) return undefined;
    let line = this.#head.first.number - 1;
    return Float64Array.from({ length: this.length }, () => {
      do line++;
      while (left.has(line));
      return line;
    });
  }
}

function readFully(file: number, bytes: Uint8Array, start: number): void {
  for (let read = 0; read < bytes.length; ) {
    const more = readSync(file, bytes, read, bytes.length - read, start + read);
    if (more === 0) throw new Error('the rows that were read are gone');
    read += more;
  }
}
